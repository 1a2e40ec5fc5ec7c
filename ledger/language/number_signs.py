"""Signs and words around a number: scales, percent, and what says that it is approximate."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

SCALES: Final[dict[str, int]] = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9}
"""English word → the power of ten that it multiplies by; the words that may follow another number in words."""
AFTER_BLANK: Final[dict[str, int]] = {
    **SCALES,
    "millions": 6, "billions": 9, "trillion": 12, "lakh": 5, "lakhs": 5, "crore": 7, "crores": 7, "bn": 9,
    "tausend": 3, "millionen": 6, "mio": 6, "milliarde": 9, "milliarden": 9, "mrd": 9, "billionen": 12,
    "mille": 3, "mil": 3, "millón": 6, "millones": 6, "milliard": 9, "milliards": 9, "milhões": 6, "milioni": 6,
    "тысяч": 3, "тысячи": 3, "тыс": 3, "миллион": 6, "миллиона": 6, "миллионов": 6, "млн": 6, "млрд": 9,
}  # fmt: skip
LETTERS: Final = {"k": 3, "K": 3, "M": 6, "bn": 9}
"""Letters written directly after a number: 12k, 3M."""
CASELESS: Final[dict[str, int]] = {
    unicodedata.normalize("NFKC", word): power
    for word, power in {
        "十": 1, "百": 2, "千": 3, "万": 4, "萬": 4, "億": 8, "亿": 8, "兆": 12,
        "십": 1, "백": 2, "천": 3, "만": 4, "억": 8, "조": 12,
        "ألف": 3, "آلاف": 3, "مليون": 6, "ملايين": 6, "مليار": 9, "هزار": 3, "میلیون": 6, "میلیارد": 9,
        "हज़ार": 3, "हजार": 3, "लाख": 5, "करोड़": 7, "พัน": 3, "หมื่น": 4, "แสน": 5, "ล้าน": 6,
    }.items()
}  # fmt: skip
SCALE: Final = re.compile(
    rf"(?:{'|'.join(LETTERS)})(?!\w)"
    rf"|[ \u00a0\u202f-]?(?:(?i:{'|'.join(sorted(AFTER_BLANK, key=len, reverse=True))})(?!\w)"
    rf"|{'|'.join(sorted(CASELESS, key=len, reverse=True))})"
)
# 千克 is a kilogram, and 3 千克 are not 3,000.
KILO: Final = re.compile("千(?=[克米瓦卡赫字帕伏])")
PERCENT: Final = re.compile(
    r"[ \u00a0\u202f-]?(?:[%٪]|(?i:per ?cent|pct|prozent\w*|pour cent|por ciento|por cento|percento|процент\w*)"
    r"|パーセント|プロセント|퍼센트|في المئة|بالمئة|في المائة|بالمائة|درصد|प्रतिशत|เปอร์เซ็นต์)"
)
PER_MILLE: Final = re.compile("[ \u00a0\u202f]?[‰]")
TENTHS: Final = re.compile("[成割](?![功为為立本果绩績長长员員])")
PERCENT_BEFORE: Final = re.compile(r"(?:(?<![0-9])[%٪][ \u00a0]?|百分之|ร้อยละ ?)$")
_ABOUT: Final = re.compile(
    r"(?:\b(?:about|around|roughly|approximately|approx\.?|nearly|almost|some|circa|ca\.?|c\."
    r"|etwa|rund|ungefähr|knapp|fast|environ|presque|unos|unas"
    r"|aproximadamente|casi|alrededor de|cerca de|около|примерно)\s+(?:a\s+|an\s+)?"
    r"|[~≈≃∼～約约]\s*|大约|大概|将近|近|およそ|ほぼ|약\s*|대략\s*|حوالي\s+|نحو\s+|تقريبا\s+|लगभग\s+|करीब\s+|ประมาณ\s*)[$€£¥₩₹]?\s?$",
    re.IGNORECASE,
)
_OR_SO: Final = re.compile(r"\w{0,2}(?:左右|上下|前後|程度|ほど|くらい|ぐらい|정도|가량)|\W?(?:or so|odd)\b")
_ABOUT_CHARACTERS: Final = 24


def is_about(text: str, start: int, end: int) -> bool:
    """Return whether the text around a number says that it is approximate."""
    before = text[max(0, start - _ABOUT_CHARACTERS) : start]
    return _ABOUT.search(before) is not None or _OR_SO.match(text, end) is not None
