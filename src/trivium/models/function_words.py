"""Words that say little about what a text is about, in languages other than English.

The static model learned by itself to give English function words short vectors; those of other languages it gives
vectors as long as any word's, and they drown the rest. The lists were begun with the words above four in a thousand of
each language's sentences in Mozilla Common Voice (CC0), cleaned of what only its topics made frequent, and completed by
hand with articles, prepositions and pronouns of the same kind. A word that means something in English (die, war, son)
is left out.
"""

from __future__ import annotations

_BY_LANGUAGE = {
    "ca": "al amb com d de del dels el els en es hi l la les més pel per que si un una va és",
    "cs": "ale co jak je jsem k na o se si tak u už v z ze že",
    "da": "af de den der det du en er et han har havde hun hvor ikke jeg kan med mig nu og om på skal som så "
    "til var ved vi",
    "de": "als auch auf aus bei das dass dem den der des du durch ein eine einem einen einer eines er es für "
    "ich im ist kann mit nach nicht noch nur oder schon sich sie sind um und vom von wie wir wird zu zum "
    "zur über",
    "el": "ένα ήταν από για δε δεν είναι η θα και κι μα μας με μου να ο οι που σε σου στη στην στο τα τη την "
    "της τι το τον του τους των",
    "es": "al como con cuál de del el ella en entre es esta este esto fue ha la las le lo los mi muy más o para "
    "pero por que qué se ser si sobre su sus también te tu un una y ya yo",
    "fi": "ei että hän ja kun mutta niin nyt oli ovat se sen",
    "fr": "au aux avec ce ces cette d dans de des du elle en est et eux il ils j je l la le les leur lui mais n "
    "ne nous ou où par pas plus pour qu que qui sa se ses sont sur un une vous y à était",
    "gl": "ao aos ca co con da das de dos e en eu máis na nas nos o os pero pola polo por que se súa un unha xa é",
    "hu": "az csak de egy ez ha hogy már még nem van volt én és",
    "id": "adalah akan aku anda apa dan dari dengan di dia ini itu kamu ke lebih pada saya sudah tidak untuk yang",
    "it": "ai al alla anche che ci con da dal dalla dei del della delle di e egli gli il io la le lo ma nel "
    "nella non o per più si sono su un una è",
    "nb": "av de den det du eg ein eit en er et han har ikke ikkje jeg kan med og om på som så til var vi å",
    "nl": "aan al als bij dan dat de deze dit een en er geen heb hebben het hier ik je maar moet naar niet nog "
    "nu om ons ook op te uit van voor wij worden zal zijn",
    "pl": "ale co czy dla jak jest mi mnie na nie o od po się tak tego z za że",
    "pt": "ao aos com como da das de dela dele dos e ela ele eles em entre era essa esse esta este está eu foi "
    "há isso já lhe mais mas meu minha na nas nem nos não o os ou para pela pelas pelo pelos por quais "
    "qual quando que quem se sem ser seu seus sua suas são também te um uma você à às é",
    "ro": "aceasta această acest acesta au ce cu că de din este fi la mai nu o pe pentru se sunt să un va în şi și",
    "ru": "а бы был было в вы да для до его ее же за и из или к как мы на не но о он она они от по с так то ты "
    "у что это я",
    "sv": "att av de den det du då en ett från för hade han har hon inte jag kan med mig nu när och om på sig "
    "ska som så var vi är",
    "tr": "ama ben bir bu da daha de değil gibi için kadar mi mı ne o sen sonra var ve çok şey",
    "uk": "а в до з за й на не по та у це що я як і із",
}

FUNCTION_WORDS = frozenset(word for words in _BY_LANGUAGE.values() for word in words.split())
