# SPDX-License-Identifier: GPL-2.0
"""A small peer that speaks the protocol of two hosts, honestly or not.

    with Conversation(connection, key, "connector") as peer:
        peer.open()                       # greetings and proofs
        peer.say("hello", {...}); word, text = peer.hear()

`attacks(seed, count)` yields generated ways to treat a listener; `commit_attack` runs one of them.
"""
from __future__ import annotations

import hashlib
import hmac
import json
import os
import random
import socket
import struct
from dataclasses import dataclass

MAGIC, PROTOCOL = b"copyscope-peer", 2
NONCE_BYTES = MARK_BYTES = 32
HEADER = struct.Struct(">IB3x")
WORDS = ["", "hello", "plan", "accept", "refuse", "ready", "stop", "done", "half"]
PROOFS = {side: b"copyscope-peer 2: the %s's proof\0" % side.encode()
          for side in ("connector", "listener")}
DIRECTIONS = {side: b"copyscope-peer 2: from the %s\0" % side.encode() for side in PROOFS}
OTHER = {"connector": "listener", "listener": "connector"}
PLAN = {"variant": "A3", "pattern": "stream", "receiver": "recv", "bytes": 4093, "threads": 2,
        "messages": 23, "seconds": 2.0, "readers": 0, "unchecked": False, "behaviours": "", "port": 9000, "no_probes": False,
        "role": "receiver"}


class Gone(Exception):
    """The other side hung up, or said nothing in time."""


def greeting(keyed: bool, nonce: bytes = b"", magic=MAGIC, protocol=PROTOCOL) -> bytes:
    """The first bytes of either side."""
    return magic + bytes([protocol, keyed]) + (nonce or os.urandom(NONCE_BYTES))


GREETING_BYTES = len(greeting(False))


class Conversation:
    """One connection, from the greeting on. `said` and `heard` keep every byte."""

    def __init__(self, connection: socket.socket, key: bytes, side: str = "connector"):
        self.connection, self.key, self.side = connection, key, side
        self.mine = greeting(bool(key))
        self.theirs = b""
        self.said = self.heard = b""
        self.sent_frames = self.heard_frames = 0

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.connection.close()

    def send(self, data: bytes) -> None:
        """Bytes as they are."""
        self.said += data
        try:
            self.connection.sendall(data)
        except OSError as error:
            raise Gone from error

    def take(self, count: int) -> bytes:
        """Exactly so many bytes."""
        data = b""
        while len(data) < count:
            try:
                more = self.connection.recv(count - len(data))
            except OSError as error:
                raise Gone from error
            if not more:
                raise Gone
            data += more
        self.heard += data
        return data

    def of_both(self, name: bytes) -> bytes:
        """What the key makes of a name and both greetings."""
        connector, listener = (self.mine, self.theirs) if self.side == "connector" else \
            (self.theirs, self.mine)
        return hmac.digest(self.key, name + connector + listener, hashlib.sha256)

    def greet(self) -> None:
        """Exchange greetings."""
        if self.side == "connector":
            self.send(self.mine)
        self.theirs = self.take(GREETING_BYTES)
        if self.side == "listener":
            self.send(self.mine)

    def open(self) -> bool:
        """Greet and prove; False if the other side did not accept, or proved nothing itself."""
        self.greet()
        if self.side == "listener":
            accepted = hmac.compare_digest(self.take(MARK_BYTES), self.of_both(PROOFS["connector"]))
            self.send(bytes([accepted]) + self.of_both(PROOFS["listener"]))
            return accepted
        self.send(self.of_both(PROOFS["connector"]))
        answer = self.take(1 + MARK_BYTES)
        return answer == b"\1" + self.of_both(PROOFS["listener"])

    def mark(self, side: str, number: int, data: bytes) -> bytes:
        """The mark of a frame that one side says."""
        return hmac.digest(self.of_both(DIRECTIONS[side]), struct.pack(">Q", number) + data,
                           hashlib.sha256)

    def frame(self, word: str | int, text=b"") -> bytes:
        """The next frame of ours; an object becomes JSON."""
        if not isinstance(text, bytes):
            text = json.dumps(text).encode()
        number = word if isinstance(word, int) else WORDS.index(word)
        data = HEADER.pack(len(text), number) + text
        self.sent_frames += 1
        return data + self.mark(self.side, self.sent_frames - 1, data)

    def say(self, word: str | int, text=b"") -> None:
        """Send a word, marked as it should be."""
        self.send(self.frame(word, text))

    def hear(self) -> tuple[str, bytes]:
        """The next word; its mark must fit."""
        head = self.take(HEADER.size)
        length, number = HEADER.unpack(head)
        text = self.take(length)
        mark = self.take(MARK_BYTES)
        assert mark == self.mark(OTHER[self.side], self.heard_frames, head + text)
        self.heard_frames += 1
        return WORDS[number], text

    def ask_for_plan(self, hello: dict, plan: dict | None = None) -> tuple[str, bytes]:
        """Say hello and ask for a plan: accept or refuse, and why."""
        self.say("hello", hello)
        assert self.hear()[0] == "hello"
        self.say("plan", {**PLAN, **(plan or {})})
        return self.hear()


def learn_hello(connection: socket.socket, key: bytes) -> dict:
    """What build a listener is: anyone with the key is told."""
    with Conversation(connection, key) as peer:
        assert peer.open()
        peer.say("hello", {})
        return json.loads(peer.hear()[1])


# Generated attacks

@dataclass(frozen=True)
class Attack:
    """What to do to a listener: a name, and what the dice of its seed make of it."""
    name: str
    seed: int


KINDS = ["noise", "wrong key", "no proof", "cut greeting", "reflected", "cut frame", "long frame",
         "wrong mark", "unknown word", "word out of order", "JSON that is none", "deep JSON",
         "odd plan", "greedy plan"]
ODD = [None, True, -1, 0, 1.5, 1 << 31, 1 << 63, 1e308, "", "A3", "\x1b[2J", "x" * 3000, [], {},
       [[]]]


def attacks(seed: int, count: int):
    """So many of all kinds, the same for the same seed."""
    dice = random.Random(seed)
    for _ in range(count):
        yield Attack(dice.choice(KINDS), dice.randrange(1 << 32))


def odd_plan(dice: random.Random) -> dict:
    """A plan of which one value is of no use."""
    return {dice.choice(list(PLAN)): dice.choice(ODD)}


def greedy_plan(dice: random.Random) -> dict:
    """A plan that is well formed and asks for more than any default allows."""
    return dice.choice([{"bytes": 64 << 20, "threads": 1024}, {"bytes": dice.randrange(2 << 20, 64 << 20)},
                        {"threads": dice.randrange(65, 1025)},
                        {"messages": 0, "seconds": dice.uniform(61, 86400)}])


def send_bad_frame(peer: Conversation, name: str, dice: random.Random, hello: dict) -> None:
    """What follows the proofs in an attack by one who has the key."""
    good = peer.frame("hello", hello)
    if name == "cut frame":
        peer.send(good[:dice.randrange(1, len(good))])
    elif name == "long frame":
        peer.send(HEADER.pack(dice.randrange(4097, 1 << 32), 1) + dice.randbytes(200))
    elif name == "wrong mark":
        at = dice.randrange(HEADER.size, len(good))
        peer.send(good[:at] + bytes([good[at] ^ 1 << dice.randrange(8)]) + good[at + 1:])
    elif name == "unknown word":
        peer.sent_frames = 0
        peer.say(dice.choice([0, *range(9, 256)]), hello)
    elif name == "word out of order":
        peer.sent_frames = 0
        peer.say(dice.choice(WORDS[2:]), PLAN)
    else:
        peer.sent_frames = 0
        peer.say("hello", b"[" * dice.randrange(1, 4000) if name == "deep JSON" else
                 dice.randbytes(dice.randrange(4096)))


def commit_attack(attack: Attack, connection: socket.socket, key: bytes, hello: dict) -> str:
    """Do it; the last word that was heard, or "" if the listener hung up, as it should."""
    dice = random.Random(attack.seed)
    used = dice.randbytes(44).hex().encode() if attack.name == "wrong key" and key else key
    try:
        with Conversation(connection, used) as peer:
            if attack.name == "noise":
                peer.send(dice.randbytes(dice.randrange(1, 6000)))
            elif attack.name == "cut greeting":
                peer.send(peer.mine[:dice.randrange(len(peer.mine))])
            elif attack.name == "reflected":
                peer.greet()
                peer.send(peer.of_both(PROOFS["listener"]))
            elif attack.name == "no proof":
                peer.greet()
                peer.send(dice.randbytes(MARK_BYTES))
            elif not peer.open():
                return ""
            elif attack.name in ("odd plan", "greedy plan"):
                plan = odd_plan(dice) if attack.name == "odd plan" else greedy_plan(dice)
                return peer.ask_for_plan(hello, plan)[0]
            else:
                send_bad_frame(peer, attack.name, dice, hello)
            peer.connection.shutdown(socket.SHUT_WR)
            while peer.connection.recv(65536):
                pass
    except (Gone, OSError):
        pass
    return ""


# A run with a hostile partner

def take_part(peer: Conversation, plan: dict, connect) -> dict:
    """Behave well from accept on: be ready, take the payload, be done; the sender's half.

    connect(port) opens a connection to the workload of the listening host.
    """
    peer.say("ready")
    assert peer.hear()[0] == "ready"
    for each in [connect(plan["port"]) for _ in range(plan["threads"])]:
        with each:
            while each.recv(1 << 20):
                pass
    peer.say("done")
    assert peer.hear()[0] == "done"
    word, text = peer.hear()
    assert word == "half"
    return json.loads(text)


def turned_round(half: dict) -> dict:
    """The sender's own half, as if the receiver's host had counted it."""
    turned = json.loads(json.dumps({**half, "end": "receiver"}))
    turned["record"]["path"]["rx_dev"] = "rx0"
    counters = turned["record"]["counters"]
    counters["receiver"], counters["sender"] = counters["sender"], counters["receiver"]
    return turned


def places(node, path=()):
    """Every place of a document that holds a plain value, as a path of keys."""
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in items:
        if isinstance(value, (dict, list)):
            yield from places(value, (*path, key))
        else:
            yield (*path, key)


HUGE = [1 << 53, (1 << 63) - 1, -(1 << 63), 1 << 62]


def hostile_half(half: dict, seed: int) -> bytes:
    """An honest half with some values that no host could have counted, or no JSON at all."""
    dice = random.Random(seed)
    damaged = json.loads(json.dumps(half))
    if dice.random() < 0.1:
        return dice.choice([b"", b"{", b"[" * 100000, b"null", dice.randbytes(1000)])
    everywhere = list(places(damaged))
    for path in dice.sample(everywhere, dice.choice([1, 1, 2, 50])):
        node = damaged
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = dice.choice(HUGE + ODD)
    return json.dumps(damaged).encode()
