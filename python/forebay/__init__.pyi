# Generated from the engine's definitions by `make docs`; do not edit.
from collections.abc import Sequence
from typing import Any, Literal

from forebay.api import Results as Results
from forebay.errors import UserError as UserError
from forebay.mechanism import Mechanism as Mechanism
from forebay.scenario import Network as Network
from forebay.scenario import Node as Node

__version__: str

class _Queue:
    def droptail(self, *, limit: str | Sequence[str] = ...) -> Mechanism: ...
    def priority(self, *, classes: Sequence[Any]) -> Mechanism: ...
    def red(
        self,
        *,
        min_threshold: str | Sequence[str] = ...,
        max_threshold: str | Sequence[str] = ...,
        max_probability: float | Sequence[float] = ...,
        weight: float | Sequence[float] = ...,
        gentle: bool = ...,
        spacing: Literal["uniform", "wait", "geometric"] = ...,
        count: Literal["code", "analysis"] = ...,
        idle_correction: Literal["fj", "ns2"] = ...,
        mean_packet: str | Sequence[str] = ...,
        byte_mode: Literal["off", "fj", "ns2"] = ...,
        max_packet: str | Sequence[str] = ...,
        ecn: bool = ...,
        limit: str | Sequence[str] = ...,
        ns2_guards: bool = ...,
    ) -> Mechanism: ...
    def rio(
        self,
        *,
        min_threshold: str | Sequence[str],
        max_threshold: str | Sequence[str],
        max_probability: float | Sequence[float],
        coupling: Literal["coupled", "decoupled"] = ...,
        idle: Literal["cumulative", "physical"] = ...,
        weight: float | Sequence[float] = ...,
        gentle: bool = ...,
        spacing: Literal["uniform", "wait", "geometric"] = ...,
        count: Literal["code", "analysis"] = ...,
        idle_correction: Literal["fj", "ns2"] = ...,
        mean_packet: str | Sequence[str] = ...,
        byte_mode: Literal["off", "fj", "ns2"] = ...,
        max_packet: str | Sequence[str] = ...,
        ecn: bool = ...,
        limit: str | Sequence[str] = ...,
        ns2_guards: bool = ...,
    ) -> Mechanism: ...
    def wred(
        self,
        *,
        min_threshold: str | Sequence[str],
        max_threshold: str | Sequence[str],
        max_probability: float | Sequence[float],
        weight: float | Sequence[float] = ...,
        gentle: bool = ...,
        spacing: Literal["uniform", "wait", "geometric"] = ...,
        count: Literal["code", "analysis"] = ...,
        idle_correction: Literal["fj", "ns2"] = ...,
        mean_packet: str | Sequence[str] = ...,
        byte_mode: Literal["off", "fj", "ns2"] = ...,
        max_packet: str | Sequence[str] = ...,
        ecn: bool = ...,
        limit: str | Sequence[str] = ...,
        ns2_guards: bool = ...,
    ) -> Mechanism: ...

queue: _Queue

class _Conditioner:
    def fixed(self, *, precedence: int) -> Mechanism: ...
    def srtcm(
        self,
        *,
        cir: str | Sequence[str],
        cbs: str | Sequence[str],
        ebs: str | Sequence[str],
        mode: Literal["blind", "aware"] = ...,
        excess: Literal["mark", "drop"] = ...,
    ) -> Mechanism: ...
    def token_bucket(
        self,
        *,
        cir: str | Sequence[str],
        cbs: str | Sequence[str],
        conforming: int = ...,
        exceeding: int = ...,
        excess: Literal["mark", "drop"] = ...,
    ) -> Mechanism: ...
    def trtcm(
        self,
        *,
        cir: str | Sequence[str],
        cbs: str | Sequence[str],
        pir: str | Sequence[str],
        pbs: str | Sequence[str],
        mode: Literal["blind", "aware"] = ...,
        excess: Literal["mark", "drop"] = ...,
    ) -> Mechanism: ...
    def tswtcm(
        self,
        *,
        ctr: str | Sequence[str],
        ptr: str | Sequence[str] = ...,
        window: str | Sequence[str] = ...,
        excess: Literal["mark", "drop"] = ...,
    ) -> Mechanism: ...

conditioner: _Conditioner

class _Shaper:
    def leaky(
        self,
        *,
        rate: str | Sequence[str],
        limit: str | Sequence[str] = ...,
    ) -> Mechanism: ...
    def ras(
        self,
        *,
        rates: Literal["single", "two"] = ...,
        green: bool = ...,
        cir: str | Sequence[str],
        cir_threshold: str | Sequence[str],
        pir: str | Sequence[str] = ...,
        pir_threshold: str | Sequence[str] = ...,
        mir: str | Sequence[str] = ...,
        mir_threshold: str | Sequence[str],
        window: str | Sequence[str] = ...,
        limit: str | Sequence[str] = ...,
    ) -> Mechanism: ...

shaper: _Shaper

class _Traffic:
    def bulk(self) -> Mechanism: ...
    def cbr(
        self,
        *,
        rate: str | Sequence[str],
        size: str | Sequence[str],
        jitter: float | Sequence[float] = ...,
        random_phase: bool = ...,
    ) -> Mechanism: ...
    def file(
        self,
        *,
        size: str | Sequence[str],
        count: int = ...,
        interval: str | Sequence[str] = ...,
    ) -> Mechanism: ...
    def on_off(
        self,
        *,
        rate: str | Sequence[str],
        size: str | Sequence[str],
        on: str | Sequence[str] = ...,
        off: str | Sequence[str] = ...,
    ) -> Mechanism: ...
    def poisson(
        self,
        *,
        rate: str | Sequence[str],
        size: str | Sequence[str],
        sizes: Literal["fixed", "exponential"] = ...,
    ) -> Mechanism: ...

traffic: _Traffic

class _Control:
    def reno(self) -> Mechanism: ...
    def cubic(
        self,
        *,
        c: float | Sequence[float] = ...,
        beta: float | Sequence[float] = ...,
        fast_convergence: bool = ...,
    ) -> Mechanism: ...

control: _Control

def tcp(
    *,
    mss: str | Sequence[str] = ...,
    header: str | Sequence[str] = ...,
    recovery: Literal["reno", "newreno", "sack"] = ...,
    newreno_timer: Literal["impatient", "slow-but-steady"] = ...,
    dupack_threshold: int = ...,
    limited_transmit: bool = ...,
    sack_at_timeout: Literal["clear", "keep"] = ...,
    sack_header_bytes: bool = ...,
    initial_window: str | Sequence[str] = ...,
    initial_ssthresh: str | Sequence[str] = ...,
    window: str | Sequence[str] = ...,
    max_burst: int = ...,
    idle_restart: bool = ...,
    delayed_ack: bool = ...,
    delayed_ack_timeout: str | Sequence[str] = ...,
    rto_tick: str | Sequence[str] = ...,
    rto_min: str | Sequence[str] = ...,
    rto_max: str | Sequence[str] = ...,
    rto_initial: str | Sequence[str] = ...,
    timestamps: bool = ...,
    ecn: bool = ...,
    control: Mechanism | None = ...,
) -> dict[str, Any]: ...

def udp(*, header: str | Sequence[str] = ...) -> dict[str, Any]: ...
