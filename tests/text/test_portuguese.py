"""Portuguese: accents typed or left out, and the plurals that Snowball keeps apart."""

from __future__ import annotations

import pytest

from trivium.text import index_terms, query_terms

SAME = """
homem homens | jovem jovens | viagem viagens | imagem imagens | animal animais | papel papéis papeis
hotel hotéis hoteis | espanhol espanhóis espanhois | mão mãos mao | pão pães pao | mãe mães mae | irmão irmãos irmao
alemão alemães alemao | avião aviões aviao avioes | coração corações coracao coracoes | canção cancao canções
programação programações programacao programar programador | importância importancia | solução solucao soluções
experiência experiencia experiências experiencias | responsável responsavel responsáveis | nível nivel níveis
possível possivel possíveis | história historia histórias | relatório relatorio relatórios | memória memoria memórias
código codigo códigos | reunião reuniao reuniões | usuário usuario usuários | música musica músicas
falávamos falavamos falar falou | café cafe cafés | fácil fáceis facil | lençol lençóis | herói heróis heroi
ficção ficcao | científica cientifica científico | informação informacao informações | decisão decisao decisões
país paises países
"""
GROUPS = [group.split() for line in SAME.strip().splitlines() for group in line.split("|")]


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group[0])
def test_spellings_and_plurals_are_one_term(group: list[str]) -> None:
    assert len({term for word in group for term in index_terms(word, "pt")}) == 1


@pytest.mark.parametrize(("one", "other"), [("mãe", "mão"), ("caos", "cão"), ("leis", "leão"), ("carro", "caro")])
def test_different_words_stay_apart(one: str, other: str) -> None:
    assert index_terms(one, "pt") != index_terms(other, "pt")


def test_a_query_without_accents_finds_the_accented_text() -> None:
    document = index_terms("Filmes de ficção científica sobre viagens no espaço", "pt")
    asked = [token.term for token in query_terms("ficcao cientifica viagem espaco", ["pt"])]
    assert len(asked) == 4
    assert set(asked) <= set(document)


def test_questions_keep_only_their_content_words() -> None:
    tokens = query_terms("Quais são os filmes que você não viu ainda, e por que?", ["pt"])
    assert [token.word for token in tokens] == ["filmes", "viu"]


def test_stop_words_are_known_without_their_accents() -> None:
    assert [token.word for token in query_terms("voce nao esta na reuniao", ["pt"])] == ["reuniao"]
