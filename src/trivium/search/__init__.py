"""Query to result, one file per stage: query, legs, fuse, priors, rerank, result, explain."""
