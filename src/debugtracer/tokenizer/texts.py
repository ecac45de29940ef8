"""The probe texts: short ones from every corner where tokenizers are known to part, so that equal tables are not taken
for equal ids."""

# ruff: noqa: RUF001  (look-alike characters are the point)
from __future__ import annotations

from pathlib import Path

from debugtracer.errors import UsageError

PLAIN = (
    "Hello world", "hello world", "HELLO WORLD", "Hello, world!", "The quick brown fox jumps over the lazy dog.",
    "It's the user's; they'd've said \"no\".", "don't can't won't I'm you're we'll", "e.g. i.e. etc. Dr. Smith, Ph.D.",
    "well-known state-of-the-art co-operate", "antidisestablishmentarianism", "a", "I", "?", "...", "!?!?",
    "(parenthesised) [bracketed] {braced} <angled>", "One sentence. Another one! A third?",
    "camelCase PascalCase snake_case kebab-case",
)  # fmt: skip
SPACE = (
    "", " ", "  ", "\t", "\n", "\r\n", "\n\n\n", " leading", "trailing ", "  two  spaces  ", "tab\tinside",
    "line\nbreak", "windows\r\nbreak", "mixed \t \n space", "no-break\u00a0space", "thin\u2009space", "zero\u200bwidth",
    "joined\u200dup", "ideographic\u3000space", "line\u2028separator", "\ufeffbyte order mark", "                ",
    "a" + " " * 40 + "b",
)  # fmt: skip
NUMBERS = (
    "0", "7", "42", "007", "1234567890", "3.14159", "-1", "+1", "1e-5", "6.02E+23", "1,000,000", "1 000 000",
    "12:34:56", "2024-02-29", "50%", "$19.99", "€1.000,50", "0x7fff", "0b1010", "1/2", "½ ¾ ²³", "١٢٣٤٥", "१२३", "Ⅷ",
    "10000000000000000000000000000001", "192.168.0.1", "+49 (0)30 1234-5678",
)  # fmt: skip
CODE = (
    "def f(x):\n    return x ** 2\n", "\tif (a != b) { c += d; }", "x = [i for i in range(10)]",
    "SELECT * FROM t WHERE a >= 3;",
    "<div class=\"a\">&amp;</div>", "https://example.org/a/b?c=d&e=f#g", "user.name+tag@example.org",
    "C:\\Users\\me\\file.txt",
    "/usr/local/bin", "{\"key\": [1, 2.5, null, true]}", "#!/bin/sh\nset -e\n", "// comment /* block */",
    "λx.x → ∀y ∈ ℝ", "$\\frac{a}{b}$", "a_b__c", "0.1+0.2==0.30000000000000004", "\\n is not \n", "```py\npass\n```",
)  # fmt: skip
UNICODE = (
    "naïve café résumé", "nai\u0308ve cafe\u0301", "Ångström", "straße STRASSE", "İstanbul ıi", "Œuvre œuf æ",
    "ﬁne ﬂow", "ＦＵＬＬ　ｗｉｄｔｈ", "ｶﾀｶﾅ カタカナ", "Ⓐ①㈠", "“quotes” ‘single’ «guillemets» „low“",
    ("en–dash em—dash "
"minus−"), "ellipsis…", "東京都に住んでいます。", "我爱自然语言处理", "안녕하세요 세계", "한글", "Привет, мир",
    "Ελληνικά ς σ", "สวัสดีชาวโลก", "नमस्ते दुनिया", "வணக்கம்", "Việt Nam đẹp", "ქართული", "\u0301",
    "e\u0301\u0302\u0303\u0304", "Z̷̢͠a̸l̵g̶o̴",
    "\ufffd", "\U00010348", "\x00", "\x07\x1b[31m", "\u00ad soft\u00adhyphen",
)  # fmt: skip
EMOJI = ("🙂", "👍🏽", "👨‍👩‍👧‍👦", "🇩🇪🇫🇷", "❤️", "❤", "1️⃣", "a🙂b", "🙂🙂🙂🙂", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "text 🚀 more")
RIGHT_TO_LEFT = (
    "שלום עולם", "مرحبا بالعالم", "السَّلَامُ عَلَيْكُم", "فارسی ک ی", "mixed שלום text", "\u202bembedded\u202c", "\u200f123",
    "עברית (1) abc", "ﷺ", "ـــــ",
)  # fmt: skip
SPECIAL = (
    "<s>", "</s>", "<pad>", "<unk>", "<mask>", "[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]", "<|endoftext|>",
    "<|im_start|>user\nhi<|im_end|>", "<bos>", "<eos>", "[INST] hi [/INST]", "<|begin_of_text|>", "a<s>b", "##ing",
    "▁word", "Ġword", "@@", "</w>", "<0x0A>", "<extra_id_0>",
)  # fmt: skip
LONG = (
    "word " * 3000,
    "a" * 3000,
    "0123456789" * 200,
    "The quick brown fox. " * 400,
    "东" * 1000,
    "🙂" * 300,
    "\n" * 500,
)
BUILT_IN = (*PLAIN, *SPACE, *NUMBERS, *CODE, *UNICODE, *EMOJI, *RIGHT_TO_LEFT, *SPECIAL, *LONG)


def about(tokens: frozenset[str]) -> list[str]:
    """Return each special token alone, inside a word, between spaces and twice."""
    return [text for token in sorted(tokens) for text in (token, f"be{token}fore", f"a {token} b", token * 2)]


def lines(path: Path) -> list[str]:
    """The lines of a file of the user's own texts. Raises UsageError."""
    try:
        found = path.read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise UsageError(f"--probes {path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise UsageError(
            f"--probes {path}: is not UTF-8 (byte {error.start}); save it as UTF-8, one text a line"
        ) from None
    return [line.removesuffix("\r") for line in (found[:-1] if found[-1] == "" else found)]
