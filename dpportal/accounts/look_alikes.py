"""Letters that look alike: of Unicode's confusables (UTS 39), single letters of Latin, Cyrillic, Greek or Armenian."""

from __future__ import annotations

import unicodedata

# Each group is of several alphabets; its first letter stands for all of it.
_GROUPS = (
    "AАΑᎪᗅꓮ𐊠𖽀 BꞴВΒᏴᗷꓐ𐊂𐊡𐌁 CСⲤᏟꓚ𐊢𐌂𐐕𐔜 DᎠᗞᗪꓓ EЕΕᎬⴹꓰ𐊆𑢦𑢮 FꞘϜᖴꓝ𐊇𐊥𐔥𑢢𑣂 GԌᏀᏳꓖ HНΗⲎᎻᕼꓧ𐋏 JꞲЈͿᎫᒍꓙ KКΚⲔᏦᛕꓗ𐔘 "
    "LⳐᏞᒪꓡ𐐛𐔦𑢣𑢲𖼖 MМΜϺⲘᎷᗰᛖꓟ𐊰𐌑 NΝⲚꓠ𐔓 OОΟՕⲞଠዐⵔꓳ𐊒𐊫𐐄𐓂𐔖𑢵 PРΡⲢᏢᑭꓑ𐊕 Qⵕ RƦᎡᏒᖇꓣ𐒴𖼵 SЅՏᏕᏚꓢ𐊖𐐠𖼺 TТΤⲦᎢꓔ𐊗𐊱𐌕𑢼𖼊 "
    "UՍሀᑌꓴ𐓎𑢸𖽂 VѴᏙᐯⴸꓦꛟ𐔝𑢠𖼈 WԜᎳᏔꓪ XꞳХΧⲬᚷⵝꓫ𐊐𐊴𐌗𐔧 YУҮΥⲨᎩᎽꓬ𐊲𑢤𖽃 ZΖᏃꓜ𑢩 aɑаα bƄЬᏏᑲᖯ cᴄсⲥꮯ𐐽 dԁᏧᑯꓒ eꬲеҽ "
    "fẝꞙꬵք gƍɡᶃց hһհᏂ iıɩɪіӏꙇιᎥꭵ𑣃 jјϳ IІӀΙⲒ lƖǀᛁⵏꓲ𐊊𐌉𖼨 nոռ oᴏᴑꬽоοσօⲟഠဝჿ𐐬𐓪𑣈𑣗 pрρⲣ qԛգզ rꭇꭈгᴦⲅꮁ "
    "sƽꜱѕꮪ𐑈𑣁 uʋᴜꞟꭎꭒυս𐓶𑣘 vᴠѵνꮩ𑜆𑣀 wɯᴡѡԝաꮃ𑜊𑜎𑜏 xхᕁᕽ yɣʏᶌỿꭚуүγყ𑣜 zᴢꮓ𑣄 ÞϷ𐓄 ßꞵβᏰ þƿϸ ĸᴋкκⲕꮶ ƅьꮟ "
    "ƆϽↃꓛ𐐣 Ǝⴺꓱ ƏӘ ƐԐᏋ𐐁𖼭 ƨᴤꙅϩ ƩΣⵉ ƫᎿ Ʊᘮᘴ ǝəә ǶԊ ȝʒꝫӡⳍჳ ȷյ ɂꭾ ɅЛΛᐱⴷꓥꛎ𐊍𐒰𖼽 ɔᴐↄͻ𐑋 ɛꞓєԑεⲉꮛ𐐩𑣎 ɜᴈз ɞ𐑂 "
    "ɢԍᏻꮐ ɰպሣ ɷ𐐿 ɸфφⲫ ʀꭱꮢ ʌᴧ𐓘 ʍᴍмꮇ ʘꙨⵙ𐓃 ʙвᏼ ʚꞝ𐐪 ʜнꮋ ʟⳑꮮ𐑃 ʡꛍ ᴀꭺ ᴅꭰ ᴇꭼ ᴊꭻ ᴎиͷ𐑍 ᴘᴩꮲ ᴙя ᴛтτꭲ ẟδծᕷ "
    "Ɐᗄꓯ Ɒ𐐟 ⱵͰᎨᎰꚱ ⱶꮀ ꜾϿ ꜿͽ ꞆႠ ꞒЄⲈ Ꞛ𐐒 ꞛ𐐺 Ꞟꓤ Ʇꓕ ꞶꙌ ꞷꙍωⲱ ꟻᖷ ꭓꭕχⲭ ꭠљ Ћ𐓍 ГΓⲄᎱᒥ𖼇 ИͶꚡ𐐥 ПΠⲠꛛ ФΦՓⲪቀ𐊳 "
    "ШⲼ пπᴨ шⲽ ѠᏇᗯ ѰΨⲮᛘ𐊵𐓑 ѱψ𐓹 Ӄ𐒼 Ꙙ𖼜 ꙩ𐓫 Ꚛ𐊨 ΔⲆᐃⵠ𐊅𐊣𖼚 Ωᘯᘵ𐊶 λⲖ𐓛 ϗⳤ Ϙ𐊭𐌒 Իኮ Մሆ Ոበᑎꓵ Պጣ Ռቡ ՙʿ ձኔ "
)
_ONE = str.maketrans({letter: group[0] for group in _GROUPS.split() for letter in group[1:]})
# Signs of one alphabet that look alike as they are written; a capital L looks like none of them.
_AS_WRITTEN = str.maketrans("01|IL", "olll\0")


def looks_of(name: str) -> set[tuple[str, bool]]:
    """What a name looks like: however its capitals are written, and as they are; names that share one look alike."""
    parts = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", name))
    alike = [text.translate(_ONE) for text in (parts, parts.lower(), parts.upper())]
    return {*((text.casefold(), False) for text in alike), (alike[0].translate(_AS_WRITTEN).casefold(), True)}
