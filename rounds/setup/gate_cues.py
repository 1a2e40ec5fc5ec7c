"""The gate's cues: what speaks for each kind of question, and the words that name stakes (AD-2, AD-9).

`gate_cues.tsv` gives each cue a weight for every kind. The weights are learned from questions that people would type,
each with a label (`python -m benchmarks.gate.learn`, benchmarks/gate/README.md). Patterns written by hand were right
on half as many questions that nobody had seen, because few people use the words that a pattern expects.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final

CUES: Final = Path(__file__).with_name("gate_cues.tsv")
_TOKEN: Final = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+|[?!:;,.\"()/]|->")
_SENTENCE: Final = re.compile(r"(?<=[.?!:;])\s+|\n+")
_ENDING: Final = re.compile(r"(?<=[a-z]{3})(?:'s|ing|edly|ed|es|s|ly|ers?|ments?|tions?)$")
_QUOTES: Final = str.maketrans("’“”", '\'""')
LONG: Final = (4, 7, 10, 14, 16, 20, 32, 40, 60)
"""Lengths in words and marks; a question longer than one of them has its cue."""
COMMAS: Final = (1, 3, 6)


def cues_of(text: str) -> set[str]:
    """Return the cues of a question: words, stems, pairs of neighbors, `^` beginnings of sentences, and its form.

    A stem ends with a dash, and the form stands in brackets. Digits count as `#`, so that one number is like another.
    """
    text = text.lower().translate(_QUOTES)
    sentences = [
        ["#" if token.isdigit() else token for token in _TOKEN.findall(sentence)]
        for sentence in _SENTENCE.split(text)
    ]
    cues = set(_form(text, sentences))
    for words in filter(None, sentences):
        cues.update(words)
        cues.update(map(stem, words))
        cues.update(f"{first} {second}" for first, second in pairwise(words))
        # "improve" as the first word is a request; in the middle of a sentence it tells little.
        cues.update(f"^{' '.join(words[:count])}" for count in (1, 2, 3))
    return cues


def stem(word: str) -> str:
    """Return a longer word without its ending, and with a dash; a short word as it is."""
    return _ENDING.sub("", word) + "-" if len(word) > 4 else word


def _form(text: str, sentences: list[list[str]]) -> Iterator[str]:
    length, commas, asked = sum(map(len, sentences)), text.count(","), text.count("?")
    count = min(sum(map(bool, sentences)), 6)
    yield from (f"[longer than {least}]" for least in LONG if length > least)
    yield from (f"[{least} commas]" for least in COMMAS if commas >= least)
    yield "[ends with ?]" if text.rstrip().endswith("?") else "[ends without ?]"
    yield "[asks nothing]" if not asked else "[one question]" if asked == 1 else "[questions]"
    yield "[one sentence]" if count == 1 else f"[{count} sentences]"
    if "\n" in text.strip():
        yield "[lines]"
    if '"' in text:
        yield "[quotation]"
    if re.search(r":\s[^,\n]+,", text):
        yield "[list]"
    if re.search(r"\bor\b[^?]*\?", text):
        yield "[or ?]"


@cache
def table() -> tuple[tuple[str, ...], Mapping[str, str]]:
    """Return the kinds, and the line of each cue; its weights are split when a question has the cue."""
    # Read on first use: most commands need no gate.
    head, *lines = CUES.read_text("utf-8").splitlines()
    return tuple(head.split("\t")[1:]), {cue: row for cue, _, row in (line.partition("\t") for line in lines)}


def weights(cue: str) -> list[int]:
    """Return the weights of a cue of the table in the order of the kinds, in quarters of a natural logarithm."""
    return [int(weight or 0) for weight in table()[1][cue].split("\t")]


def scores(cues: set[str]) -> dict[str, float]:
    """Return for each kind its start, the weights of the empty cue, and the sum of the cues' weights over √cues.

    A long text has many cues that repeat each other; divided by the root, they count no more than those of a short one.
    """
    kinds, rows = table()
    known = cues & rows.keys()
    root = math.sqrt(len(known) or 1)
    sums = [sum(column) for column in zip(*map(weights, known), strict=True)] or [0] * len(kinds)
    return {kind: start + total / root for kind, start, total in zip(kinds, weights(""), sums, strict=True)}


def evidence(cues: set[str], kind: str, other: str) -> list[str]:
    """Return the cues that speak for a kind and against another, the heaviest first; a stem as its whole word."""
    kinds, rows = table()
    this, that = kinds.index(kind), kinds.index(other)
    surplus = {cue: row[this] - row[that] for cue in cues & rows.keys() for row in (weights(cue),)}
    heaviest = sorted(
        (cue for cue, weight in surplus.items() if weight > 0), key=lambda cue: (-surplus[cue], cue)
    )
    return [max(word for word in cues if cue in (word, stem(word))) for cue in heaviest]


CHOICE: Final = re.compile(r"\w,? or (?!not\b|so\b|later\b|no\b|more\b|less\b)\w[^.!]*\?", re.IGNORECASE)
"""Two named options, for which `comparative` would fit too."""

STAKES: Final = """
# data and service
back_up* backup* client_data corrupt* customer* data_base* database* deploy* destroy* discard* dns
downtime drop_it erase* erasing failover flush_log for_good force_push* forever fsck git_history
hard_reset innodb iptables irrevers* kubectl lose loses losing loss lost lvm main_branch mdadm
migrat* mx_record* nameserver* outage* overwrit* overwrote partition* permanent* prod production
purge* purging raid recover* replica* reset_hard restor* rm_rf roll_back* rollback* terraform
throw_away throwing_away throws_away truncate* truncating ufw undo undoing undone unrecoverable
user_data users wipe* wiping zfs
# security
2fa access_key* admin* api_key* auth authentication authorization breach* cctv certificate*
credential* data_protection decrypt* encrypt* exploit* firewall* gdpr hack hacked hacker* hacking
identity_theft injection insecure leak* log_in* login* malware mfa passcode* passphrase* password*
permission* personal_data personal_information phish* privacy private_key* ransomware remote_desktop
rights root_access scam* secret secrets secure* securit* signing_key* spoof* spyware ssh_key* sudo
surveill* token tokens two_factor validation vulnerab*
# money
401k accountant* allowance* audit audited auditing auditor auditors audits bailiff* bank* benefits billing
bitcoin budget* charge charged charges credit_card* credit_score* creditor* crypto* customs debit
debt* deductib* deduction* deposit* escrow expenses fee fees fined fines fraud* iban inheritance
insolv* insur* interest_rate* invest invested investing investment* investor* invests invoic* loan*
money mortgage* overdraft* overtime paid pay pay_slip* paying payment* payout* payroll pays payslip*
pension* price* refund* retirement salar* savings social_security stock_market subscription* tariff*
tax taxable taxation taxed taxes vat wage* welfare wire_transfer*
# law and state
arrest* asylum attorney* bail ballot* barrister* citizenship clause* complian* contract contracted
contracting contractor* contracts contractual* convict* copyright_law copyrighted court courts
crime* criminal* deadline* deport* entitl* guarantee* illegal* immigra* infring* judge judges jury
law lawful* laws lawsuit* lawyer* legal* liab* licen* my_right* nda non_compete notar*
notice_period* oblig* offence* offense* parole passport* patent patents penalt* permit permits
police polling_station* postmark* prosecut* regulat* residence_permit* right_to small_print
solicitor* statut* subpoena* sue sued sues suing terms_and_conditions terms_of_service testif*
trademark* unlawful* visa visas voter* voting warrant* without_prejudice
# housing
asbestos building_code* conveyanc* deeds easement* evict* foreclos* landlad* landlord* lease* leasing
load_bearing loadbearing lodger* mold mould* planning_permission rent rental* rented renting rents
scaffold* sublet* tenan* zoning
# work
annual_leave boss bosses days_notice days_of_notice discriminat* dismiss* employ* fire_a fire_her
fire_him fire_the fire_them firing give_notice grievance* harass* hire hired hires hiring holiday_pay
laid_off lay_off* layoff* maternity month_s_notice months_notice months_of_notice notice_to on_strike
parental_leave paternity probation* redundan* resign* sacked severance sick_leave sick_note sick_pay
trade_union* unemploy* week_s_notice weeks_notice weeks_of_notice whistleblow* working_hours
# family
abus* alimony assault* babies baby breast_fe* breastfe* child* custody divorc* elderly foster_care
guardianship heir heirs infant* last_will miscarr* month_old* newborn* pregnan* probate rape raped
rapist* stalked stalking teenager* toddler* violen* year_old*
# health
acetaminophen alcohol allerg* ambulance* anaesthe* anesthe* antibiotic* antidepress* antihistamine*
anxiety aspirin asthma* benadryl bitten bleed* blood* cancer* chemo* cholesterol clinic clinical
clinics concussion* contagio* contracept* cpr defibrillator* dementia dental dentist* depressed
depression diabet* diagnosed diagnosis disability disease* doctor* dosage* dose doses dosing drug
drugs emergenc* epilep* epipen* fainted fainting fever* first_aid fractur* heart_attack* heart_rate
hospital* ibuprofen illness* immun* infect* inhaler* injur* insulin jellyfish kidney* lab_result*
liver lung lungs mcg medic* melatonin mental_health mg mri nurse nurses overdos* pain painful*
painkiller* pains paracetamol patient* peanut* physician* pill pills prescri* rash snake_bite*
statin* sting stings stung suicid* supplement* surgeon* surger* surgic* swelling swollen symptom*
tablets test_result* therap* tick_bite* tumor* tumour* tylenol vaccin* virus* vitamin* vomit*
warfarin wheelchair* wound* x_ray*
# safety
airbag* airspace ammonia ammunition amp amps ate avalanche* belay* best_before bleach boiler boilers
botul* brake* breaker* butane campfire* canning car_seat* carabiner* carbon_monoxide chainsaw*
chemical* chicken chimney* climbing combust* cooked core_temperature danger* defrost* dive_table*
diving drown* drunk earthquake* eat eaten eating eats edible electrician* electrocut* evacuat*
explode* explosi* fire_alarm* fire_door* fire_escape* fire_exit* fire_extinguisher* firearm*
firework* flammab* flood* flue* food forag* fuse fuse_box fuses gas_boiler* gas_bottle*
gas_cylinder* gas_heater* gas_leak* gas_line* gas_pipe* gas_stove* gun guns harness* hazard* helmet*
herbicid* how_much_weight inflammab* internal_temperature jack_stand* joist* ladder* leftovers
lithium lives load_limit* mains maximum_load mushroom* on_fire overheat* pesticid* poison* pork
preflight pressure_cooker* propane radiation radon raw_chicken raw_egg* raw_fish raw_meat raw_milk
refreez* reheat* rewir* rifle* rope ropes safe safely safer safest safety scuba seat_belt* seatbelt*
smell_gas smell_of_gas smoke* solvent* speed_limit tow towing toxic* tyre* undercook* unsafe voltage
weapon* weed_killer* weedkiller* weight_and_balance weight_limit* wiring
# animals
aquarium* cats cattle deworm* dog dogs euthan* fish_tank* horse horses kitten* livestock neuter* pet
pets puppies puppy rabbit rabbits rabies vet veterinar* vets worming
# school
admission* bullied bully* dissertation* entry_requirement* exam exams expelled expulsion graduat*
plagiar* scholarship* tuition
"""
"""Words that show that a wrong answer costs something; one reply is not enough then.

The domains are those in which advice services for citizens give advice, safety at home, and the operation of a service.
`*` stands for any ending, `_` joins the words of a phrase, `#` begins a comment.
"""
_STAKES: Final = [
    word.replace("_", " ") for line in STAKES.splitlines() if "#" not in line for word in line.split()
]
_EXACT: Final = frozenset(_STAKES)
_BEGINNINGS: Final = {
    size: tuple(word[:-1] for word in _STAKES if word.endswith("*") and word.count(" ") == size - 1)
    for size in (1, 2, 3)
}
_LOSSES: Final = re.compile(
    r"\b(?:delet(?:es?|ing)|remov(?:es?|ing)|drop(?:s|ping)?|mov(?:es?|ing)|reformat\w*|format|reset)\W+(?:[\w.-]+\W+){0,3}?"
    r"(?:buckets?|repo(?:sitorie)?s?|repository|branch(?:es)?|volumes?|disks?|drives?|partitions?|clusters?|servers?"
    r"|accounts?|namespaces?|tables?|rows|records|data\w*|users?|history|logs|containers?|wikis?|(?:web)?sites?|forums?|archives?|everything|all)\b"
    r"|\bmak(?:es?|ing)\W+(?:[\w.-]+\W+){1,3}?public\b|\blive (?:data\w*|systems?|sites?|servers?|tables?)\b",
    re.IGNORECASE,
)
"""What is hard to undo, with up to three words in between: "delete the old S3 bucket"."""


def stakes_in(text: str) -> list[str]:
    """Return the words and phrases that name stakes, without repetition."""
    words = re.findall(r"[a-z0-9]+", text.lower())
    groups = ((size, " ".join(words[n : n + size])) for n in range(len(words)) for size in (1, 2, 3))
    named = [
        group
        for size, group in dict.fromkeys(groups)
        if group in _EXACT or (group.count(" ") == size - 1 and group.startswith(_BEGINNINGS[size]))
    ]
    return list(dict.fromkeys([*named, *(match[0].casefold() for match in _LOSSES.finditer(text))]))
