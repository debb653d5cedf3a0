# Generated from the engine's definitions by `make docs`; do not edit.
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from forebay.run.results import Results as Results
from forebay.errors import ScenarioWarning as ScenarioWarning
from forebay.errors import UserError as UserError
from forebay.run.plots import style as style
from forebay.scenario.mechanism import Mechanism as Mechanism
from forebay.scenario.network import Network as Network
from forebay.scenario.network import Node as Node

__version__: str

class _Queue:
    def adaptive_red(
        self,
        *,
        min_threshold: str = ...,
        max_threshold: str = ...,
        target_delay: str = ...,
        max_probability: float = ...,
        interval: str = ...,
        alpha: float = ...,
        beta: float = ...,
        bottom: float = ...,
        top: float = ...,
        weight: float = ...,
        gentle: bool = ...,
        spacing: Literal["uniform", "wait", "geometric", "drawn"] = ...,
        count: Literal["code", "analysis", "linux"] = ...,
        idle_correction: Literal["fj", "ns2"] = ...,
        mean_packet: str = ...,
        byte_mode: Literal["off", "fj", "ns2"] = ...,
        max_packet: str = ...,
        ecn: bool = ...,
        harddrop: bool = ...,
        limit: str = ...,
        ns2_guards: bool = ...,
    ) -> Mechanism: ...
    def adaptive_redn(
        self,
        *,
        precedences: int = ...,
        min_threshold: str = ...,
        max_threshold: str = ...,
        middle_threshold: str = ...,
        actual_threshold: str = ...,
        max_probability: float = ...,
        first_middle: int = ...,
        raise_to_static: bool = ...,
        middle_interval: str = ...,
        increment: float = ...,
        decrement: float = ...,
        actual_queue: Literal["coupled", "decoupled"] = ...,
        spared_count: Literal["restart", "keep"] = ...,
        idle: Literal["cumulative", "physical"] = ...,
        gentle_ecn: bool = ...,
        weight: float = ...,
        gentle: bool = ...,
        spacing: Literal["uniform", "wait", "geometric", "drawn"] = ...,
        count: Literal["code", "analysis", "linux"] = ...,
        idle_correction: Literal["fj", "ns2"] = ...,
        mean_packet: str = ...,
        byte_mode: Literal["off", "fj", "ns2"] = ...,
        max_packet: str = ...,
        ecn: bool = ...,
        harddrop: bool = ...,
        limit: str = ...,
        ns2_guards: bool = ...,
    ) -> Mechanism: ...
    def cake(
        self,
        *,
        rate: str = ...,
        tins: Literal["besteffort", "diffserv3", "diffserv4", "diffserv8", "precedence"] = ...,
        isolation: Literal["none", "srchost", "dsthost", "hosts", "flows", "dual_srchost", "dual_dsthost", "triple_isolate"] = ...,
        flows_per_source: int = ...,
        flows_per_destination: int = ...,
        queues: int = ...,
        quantum: str = ...,
        mtu: str = ...,
        spared: Literal["packets", "flows"] = ...,
        target: str = ...,
        interval: str = ...,
        ecn: bool = ...,
        ack_filter: Literal["off", "conservative", "aggressive"] = ...,
        overhead: str = ...,
        mpu: str = ...,
        framing: Literal["none", "atm", "ptm"] = ...,
        wash: bool = ...,
        limit: str = ...,
        classifier: Literal["hash", "number"] = ...,
        salt: int = ...,
    ) -> Mechanism: ...
    def choke(
        self,
        *,
        of: Mechanism | Mapping[str, Any] | str,
        threshold: str = ...,
        weight: float = ...,
        mean_packet: str = ...,
        candidates: int = ...,
        region: str = ...,
    ) -> Mechanism: ...
    def cobalt(
        self,
        *,
        target: str = ...,
        interval: str = ...,
        mtu: str = ...,
        increment: float = ...,
        decrement: float = ...,
        ecn: bool = ...,
        limit: str = ...,
    ) -> Mechanism: ...
    def codel(
        self,
        *,
        target: str = ...,
        interval: str = ...,
        mtu: str = ...,
        ecn: bool = ...,
        limit: str = ...,
        edition: Literal["queue_2012", "rfc8289"] = ...,
    ) -> Mechanism: ...
    def droptail(self, *, limit: str = ...) -> Mechanism: ...
    def drr(
        self,
        *,
        classes: Sequence[Mechanism | Mapping[str, Any] | str],
        classify: Literal["precedence", "dscp", "ecn", "rules", "flow_group", "flow_hash"] = ...,
        map: Sequence[int] = ...,
        dscp: Sequence[str | int | Sequence[str | int]] = ...,
        ecn_classes: Sequence[int] = ...,
        rules: Sequence[Mapping[str, Any]] = ...,
        flow_groups: Sequence[str] = ...,
        keys: Literal["flow", "src", "dst", "src,dst", "group"] = ...,
        perturb: str = ...,
        salt: int = ...,
        otherwise: int = ...,
        quanta: Sequence[str] = ...,
    ) -> Mechanism: ...
    def dualpi2(
        self,
        *,
        target: str = ...,
        update_interval: str = ...,
        alpha: float = ...,
        beta: float = ...,
        delay: Literal["larger", "classic"] = ...,
        coupling: float = ...,
        step: str = ...,
        step_packets: int = ...,
        ramp: str = ...,
        min_step_queue: int = ...,
        classic_share: int = ...,
        low_latency: Literal["ect1", "ect"] = ...,
        drop_overload: bool = ...,
        drop_early: bool = ...,
        decisions: Literal["random", "recurrent"] = ...,
        mtu: str = ...,
        limit: str = ...,
    ) -> Mechanism: ...
    def ets(
        self,
        *,
        classes: Sequence[Mechanism | Mapping[str, Any] | str],
        classify: Literal["precedence", "dscp", "ecn", "rules", "flow_group", "flow_hash"] = ...,
        map: Sequence[int] = ...,
        dscp: Sequence[str | int | Sequence[str | int]] = ...,
        ecn_classes: Sequence[int] = ...,
        rules: Sequence[Mapping[str, Any]] = ...,
        flow_groups: Sequence[str] = ...,
        keys: Literal["flow", "src", "dst", "src,dst", "group"] = ...,
        perturb: str = ...,
        salt: int = ...,
        otherwise: int = ...,
        strict: int = ...,
        quanta: Sequence[str] = ...,
    ) -> Mechanism: ...
    def fq_codel(
        self,
        *,
        queues: int = ...,
        quantum: str = ...,
        target: str = ...,
        interval: str = ...,
        mtu: str = ...,
        mtu_scope: Literal["queue", "all"] = ...,
        ecn: bool = ...,
        ce_threshold: str = ...,
        limit: str = ...,
        memory_limit: str = ...,
        drop_batch: int = ...,
        keys: Literal["flow", "src", "dst", "src,dst", "group"] = ...,
        classifier: Literal["hash", "number"] = ...,
        salt: int = ...,
    ) -> Mechanism: ...
    def fq_pie(
        self,
        *,
        queues: int = ...,
        quantum: str = ...,
        target: str = ...,
        update_interval: str = ...,
        max_burst: str = ...,
        alpha: float = ...,
        beta: float = ...,
        mean_packet: str = ...,
        bytemode: bool = ...,
        derandomize: bool = ...,
        cap: bool = ...,
        decay: Literal["half_target", "empty"] = ...,
        high_delay: str = ...,
        delay: Literal["timestamps", "departure_rate"] = ...,
        rate_threshold: str = ...,
        active_from: str = ...,
        ecn: bool = ...,
        mark_limit: float = ...,
        limit: str = ...,
        memory_limit: str = ...,
        keys: Literal["flow", "src", "dst", "src,dst", "group"] = ...,
        classifier: Literal["hash", "number"] = ...,
        salt: int = ...,
    ) -> Mechanism: ...
    def gred(
        self,
        *,
        min_threshold: Sequence[str],
        max_threshold: Sequence[str],
        max_probability: Sequence[float],
        limits: Sequence[str] = ...,
        grio: bool = ...,
        priorities: Sequence[int] = ...,
        weight: float = ...,
        gentle: bool = ...,
        spacing: Literal["uniform", "wait", "geometric", "drawn"] = ...,
        count: Literal["code", "analysis", "linux"] = ...,
        idle_correction: Literal["fj", "ns2"] = ...,
        mean_packet: str = ...,
        byte_mode: Literal["off", "fj", "ns2"] = ...,
        max_packet: str = ...,
        ecn: bool = ...,
        harddrop: bool = ...,
        limit: str = ...,
        ns2_guards: bool = ...,
    ) -> Mechanism: ...
    def htb(
        self,
        *,
        classes: Sequence[Mapping[str, Any]],
        classify: Literal["precedence", "dscp", "ecn", "rules", "flow_group", "flow_hash"] = ...,
        map: Sequence[int] = ...,
        dscp: Sequence[str | int | Sequence[str | int]] = ...,
        ecn_classes: Sequence[int] = ...,
        rules: Sequence[Mapping[str, Any]] = ...,
        flow_groups: Sequence[str] = ...,
        keys: Literal["flow", "src", "dst", "src,dst", "group"] = ...,
        perturb: str = ...,
        salt: int = ...,
        otherwise: int = ...,
    ) -> Mechanism: ...
    def partial_buffer_sharing(
        self,
        *,
        limit: str,
        threshold: str,
        high: int = ...,
    ) -> Mechanism: ...
    def pie(
        self,
        *,
        target: str = ...,
        update_interval: str = ...,
        max_burst: str = ...,
        alpha: float = ...,
        beta: float = ...,
        mean_packet: str = ...,
        bytemode: bool = ...,
        derandomize: bool = ...,
        cap: bool = ...,
        decay: Literal["half_target", "empty"] = ...,
        high_delay: str = ...,
        delay: Literal["timestamps", "departure_rate"] = ...,
        rate_threshold: str = ...,
        active_from: str = ...,
        ecn: bool = ...,
        mark_limit: float = ...,
        limit: str = ...,
    ) -> Mechanism: ...
    def priority(
        self,
        *,
        classes: Sequence[Mechanism | Mapping[str, Any] | str],
        classify: Literal["precedence", "dscp", "ecn", "rules", "flow_group", "flow_hash"] = ...,
        map: Sequence[int] = ...,
        dscp: Sequence[str | int | Sequence[str | int]] = ...,
        ecn_classes: Sequence[int] = ...,
        rules: Sequence[Mapping[str, Any]] = ...,
        flow_groups: Sequence[str] = ...,
        keys: Literal["flow", "src", "dst", "src,dst", "group"] = ...,
        perturb: str = ...,
        salt: int = ...,
        otherwise: int = ...,
    ) -> Mechanism: ...
    def push_out(self, *, limit: str, high: int = ...) -> Mechanism: ...
    def red(
        self,
        *,
        min_threshold: str = ...,
        max_threshold: str = ...,
        max_probability: float = ...,
        weight: float = ...,
        gentle: bool = ...,
        spacing: Literal["uniform", "wait", "geometric", "drawn"] = ...,
        count: Literal["code", "analysis", "linux"] = ...,
        idle_correction: Literal["fj", "ns2"] = ...,
        mean_packet: str = ...,
        byte_mode: Literal["off", "fj", "ns2"] = ...,
        max_packet: str = ...,
        ecn: bool = ...,
        harddrop: bool = ...,
        limit: str = ...,
        ns2_guards: bool = ...,
    ) -> Mechanism: ...
    def redn(
        self,
        *,
        precedences: int = ...,
        min_threshold: str = ...,
        max_threshold: str = ...,
        max_probability: float = ...,
        region_probabilities: Sequence[float] = ...,
        idle: Literal["cumulative", "physical"] = ...,
        gentle_ecn: bool = ...,
        weight: float = ...,
        gentle: bool = ...,
        spacing: Literal["uniform", "wait", "geometric", "drawn"] = ...,
        count: Literal["code", "analysis", "linux"] = ...,
        idle_correction: Literal["fj", "ns2"] = ...,
        mean_packet: str = ...,
        byte_mode: Literal["off", "fj", "ns2"] = ...,
        max_packet: str = ...,
        ecn: bool = ...,
        harddrop: bool = ...,
        limit: str = ...,
        ns2_guards: bool = ...,
    ) -> Mechanism: ...
    def rio(
        self,
        *,
        min_threshold: Sequence[str],
        max_threshold: Sequence[str],
        max_probability: Sequence[float],
        coupling: Literal["coupled", "decoupled"] = ...,
        idle: Literal["cumulative", "physical"] = ...,
        weight: float = ...,
        gentle: bool = ...,
        spacing: Literal["uniform", "wait", "geometric", "drawn"] = ...,
        count: Literal["code", "analysis", "linux"] = ...,
        idle_correction: Literal["fj", "ns2"] = ...,
        mean_packet: str = ...,
        byte_mode: Literal["off", "fj", "ns2"] = ...,
        max_packet: str = ...,
        ecn: bool = ...,
        harddrop: bool = ...,
        limit: str = ...,
        ns2_guards: bool = ...,
    ) -> Mechanism: ...
    def scfq(
        self,
        *,
        classes: Sequence[Mechanism | Mapping[str, Any] | str],
        classify: Literal["precedence", "dscp", "ecn", "rules", "flow_group", "flow_hash"] = ...,
        map: Sequence[int] = ...,
        dscp: Sequence[str | int | Sequence[str | int]] = ...,
        ecn_classes: Sequence[int] = ...,
        rules: Sequence[Mapping[str, Any]] = ...,
        flow_groups: Sequence[str] = ...,
        keys: Literal["flow", "src", "dst", "src,dst", "group"] = ...,
        perturb: str = ...,
        salt: int = ...,
        otherwise: int = ...,
        weights: Sequence[float] = ...,
    ) -> Mechanism: ...
    def self_configuring(
        self,
        *,
        precedences: int = ...,
        min_threshold: str = ...,
        max_threshold: str = ...,
        max_probability: float = ...,
        actual_threshold: str = ...,
        increment: float = ...,
        decrement: float = ...,
        actual_queue: Literal["coupled", "decoupled"] = ...,
        spared_count: Literal["restart", "keep"] = ...,
        idle: Literal["cumulative", "physical"] = ...,
        gentle_ecn: bool = ...,
        weight: float = ...,
        gentle: bool = ...,
        spacing: Literal["uniform", "wait", "geometric", "drawn"] = ...,
        count: Literal["code", "analysis", "linux"] = ...,
        idle_correction: Literal["fj", "ns2"] = ...,
        mean_packet: str = ...,
        byte_mode: Literal["off", "fj", "ns2"] = ...,
        max_packet: str = ...,
        ecn: bool = ...,
        harddrop: bool = ...,
        limit: str = ...,
        ns2_guards: bool = ...,
    ) -> Mechanism: ...
    def sfq(
        self,
        *,
        queues: int = ...,
        quantum: str = ...,
        depth: int = ...,
        head_drop: bool = ...,
        perturb: str = ...,
        limit: str = ...,
        keys: Literal["flow", "src", "dst", "src,dst", "group"] = ...,
        classifier: Literal["hash", "number"] = ...,
        salt: int = ...,
    ) -> Mechanism: ...
    def sred(
        self,
        *,
        limit: str,
        max_probability: float = ...,
        zombies: int = ...,
        overwrite: float = ...,
        flows: int = ...,
        full: bool = ...,
    ) -> Mechanism: ...
    def step(self, *, threshold: str, limit: str = ..., drop_others: bool = ...) -> Mechanism: ...
    def stfq(
        self,
        *,
        classes: Sequence[Mechanism | Mapping[str, Any] | str],
        classify: Literal["precedence", "dscp", "ecn", "rules", "flow_group", "flow_hash"] = ...,
        map: Sequence[int] = ...,
        dscp: Sequence[str | int | Sequence[str | int]] = ...,
        ecn_classes: Sequence[int] = ...,
        rules: Sequence[Mapping[str, Any]] = ...,
        flow_groups: Sequence[str] = ...,
        keys: Literal["flow", "src", "dst", "src,dst", "group"] = ...,
        perturb: str = ...,
        salt: int = ...,
        otherwise: int = ...,
        weights: Sequence[float] = ...,
    ) -> Mechanism: ...
    def tbf(
        self,
        *,
        rate: str,
        burst: str,
        peak_rate: str = ...,
        peak_burst: str = ...,
        queue: Mechanism | Mapping[str, Any] | str,
    ) -> Mechanism: ...
    def wf2q_plus(
        self,
        *,
        classes: Sequence[Mechanism | Mapping[str, Any] | str],
        classify: Literal["precedence", "dscp", "ecn", "rules", "flow_group", "flow_hash"] = ...,
        map: Sequence[int] = ...,
        dscp: Sequence[str | int | Sequence[str | int]] = ...,
        ecn_classes: Sequence[int] = ...,
        rules: Sequence[Mapping[str, Any]] = ...,
        flow_groups: Sequence[str] = ...,
        keys: Literal["flow", "src", "dst", "src,dst", "group"] = ...,
        perturb: str = ...,
        salt: int = ...,
        otherwise: int = ...,
        weights: Sequence[float] = ...,
    ) -> Mechanism: ...
    def wfq(
        self,
        *,
        classes: Sequence[Mechanism | Mapping[str, Any] | str],
        classify: Literal["precedence", "dscp", "ecn", "rules", "flow_group", "flow_hash"] = ...,
        map: Sequence[int] = ...,
        dscp: Sequence[str | int | Sequence[str | int]] = ...,
        ecn_classes: Sequence[int] = ...,
        rules: Sequence[Mapping[str, Any]] = ...,
        flow_groups: Sequence[str] = ...,
        keys: Literal["flow", "src", "dst", "src,dst", "group"] = ...,
        perturb: str = ...,
        salt: int = ...,
        otherwise: int = ...,
        weights: Sequence[float] = ...,
    ) -> Mechanism: ...
    def wred(
        self,
        *,
        min_threshold: Sequence[str],
        max_threshold: Sequence[str],
        max_probability: Sequence[float],
        weight: float = ...,
        gentle: bool = ...,
        spacing: Literal["uniform", "wait", "geometric", "drawn"] = ...,
        count: Literal["code", "analysis", "linux"] = ...,
        idle_correction: Literal["fj", "ns2"] = ...,
        mean_packet: str = ...,
        byte_mode: Literal["off", "fj", "ns2"] = ...,
        max_packet: str = ...,
        ecn: bool = ...,
        harddrop: bool = ...,
        limit: str = ...,
        ns2_guards: bool = ...,
    ) -> Mechanism: ...
    def wrr(
        self,
        *,
        classes: Sequence[Mechanism | Mapping[str, Any] | str],
        classify: Literal["precedence", "dscp", "ecn", "rules", "flow_group", "flow_hash"] = ...,
        map: Sequence[int] = ...,
        dscp: Sequence[str | int | Sequence[str | int]] = ...,
        ecn_classes: Sequence[int] = ...,
        rules: Sequence[Mapping[str, Any]] = ...,
        flow_groups: Sequence[str] = ...,
        keys: Literal["flow", "src", "dst", "src,dst", "group"] = ...,
        perturb: str = ...,
        salt: int = ...,
        otherwise: int = ...,
        packets: Sequence[int] = ...,
    ) -> Mechanism: ...

queue: _Queue

class _Conditioner:
    def adaptive_token_bucket(
        self,
        *,
        cir: str,
        pir: str,
        min_depth: str = ...,
        floor: bool = ...,
        srtt_weight: float = ...,
        mode: Literal["blind", "aware"] = ...,
        excess: Literal["mark", "drop"] = ...,
        green_retransmissions: bool = ...,
        police_slow_start: bool = ...,
    ) -> Mechanism: ...
    def ar_meter(self, *, rate: str, size: str, threshold: str) -> Mechanism: ...
    def drtcm(
        self,
        *,
        cir: str,
        cbs: str,
        eir: str,
        ebs: str,
        mode: Literal["blind", "aware"] = ...,
        excess: Literal["mark", "drop"] = ...,
    ) -> Mechanism: ...
    def ecn_bleaching(self, *, share: float = ...) -> Mechanism: ...
    def efci(
        self,
        *,
        interval: str = ...,
        weight: float = ...,
        memory: Literal["filtered", "raw"] = ...,
        threshold: float = ...,
        share: float = ...,
    ) -> Mechanism: ...
    def excess_meter(
        self,
        *,
        rate: str,
        size: str,
        form: Literal["size_independent", "classic"] = ...,
    ) -> Mechanism: ...
    def fixed(self, *, precedence: int) -> Mechanism: ...
    def gcra(
        self,
        *,
        rate: str,
        token: str = ...,
        tolerance: str = ...,
        excess: Literal["mark", "drop"] = ...,
    ) -> Mechanism: ...
    def leaky_bucket(
        self,
        *,
        rate: str,
        depth: int,
        token: str = ...,
        excess: Literal["mark", "drop"] = ...,
    ) -> Mechanism: ...
    def only(
        self,
        *,
        dscp: Sequence[str | int | Sequence[str | int]] = ...,
        flows: str = ...,
        src: str = ...,
        dst: str = ...,
        of: Mechanism | Mapping[str, Any] | str,
    ) -> Mechanism: ...
    def per_flow(
        self,
        *,
        keys: Literal["flow", "src", "dst", "src,dst", "group"] = ...,
        of: Mechanism | Mapping[str, Any] | str,
    ) -> Mechanism: ...
    def px_meter(self, *, rate: str, size: str, px: str) -> Mechanism: ...
    def remark(
        self,
        *,
        to: Sequence[str | int],
        found: Sequence[str | int | Sequence[str | int]] = ...,
    ) -> Mechanism: ...
    def sr_meter(
        self,
        *,
        rate: str,
        size: str,
        slow_down: str,
        preferential: bool = ...,
    ) -> Mechanism: ...
    def srtcm(
        self,
        *,
        cir: str,
        cbs: str,
        ebs: str,
        mode: Literal["blind", "aware"] = ...,
        excess: Literal["mark", "drop"] = ...,
    ) -> Mechanism: ...
    def threshold_meter(
        self,
        *,
        rate: str,
        size: str,
        threshold: str,
        excess_marked: Literal["meter", "skip"] = ...,
    ) -> Mechanism: ...
    def token_bucket(
        self,
        *,
        cir: str,
        cbs: str,
        conforming: int = ...,
        exceeding: int = ...,
        excess: Literal["mark", "drop"] = ...,
    ) -> Mechanism: ...
    def trtcm(
        self,
        *,
        cir: str,
        cbs: str,
        pir: str,
        pbs: str,
        mode: Literal["blind", "aware"] = ...,
        excess: Literal["mark", "drop"] = ...,
    ) -> Mechanism: ...
    def tswtcm(
        self,
        *,
        ctr: str,
        ptr: str = ...,
        window: str = ...,
        excess: Literal["mark", "drop"] = ...,
    ) -> Mechanism: ...

conditioner: _Conditioner

class _Shaper:
    def leaky(self, *, rate: str, limit: str = ...) -> Mechanism: ...
    def ras(
        self,
        *,
        rates: Literal["single", "two"] = ...,
        green: bool = ...,
        cir: str,
        cir_threshold: str,
        pir: str = ...,
        pir_threshold: str = ...,
        mir: str = ...,
        mir_threshold: str,
        window: str = ...,
        limit: str = ...,
    ) -> Mechanism: ...

shaper: _Shaper

class _Sharing:
    def complete(self) -> Mechanism: ...
    def dynamic(self, *, alpha: float = ..., alphas: Sequence[float] = ...) -> Mechanism: ...
    def static(self, *, limit: str) -> Mechanism: ...

sharing: _Sharing

class _Impairment:
    def bit_errors(self, *, rate: float) -> Mechanism: ...
    def duplication(self, *, probability: float) -> Mechanism: ...
    def gilbert_elliott(
        self,
        *,
        to_bad: float,
        to_good: float,
        loss_in_bad: float = ...,
        loss_in_good: float = ...,
    ) -> Mechanism: ...
    def jitter(
        self,
        *,
        mean: str,
        distribution: Literal["uniform", "exponential", "half_normal"] = ...,
        reorder: bool = ...,
    ) -> Mechanism: ...
    def loss(self, *, probability: float) -> Mechanism: ...
    def outage(
        self,
        *,
        down: Sequence[str] = ...,
        up: Sequence[str] = ...,
        mean_up: str = ...,
        mean_down: str = ...,
    ) -> Mechanism: ...
    def periodic_loss(self, *, period: float, first: int = ...) -> Mechanism: ...

impairment: _Impairment

class _Admission:
    def capacity(self, *, calls: int) -> Mechanism: ...
    def congestion_level(
        self,
        *,
        limit: float,
        interval: str = ...,
        marks: Literal["any", "excess"] = ...,
    ) -> Mechanism: ...
    def marking_change(self, *, excess_stops: bool = ...) -> Mechanism: ...
    def stop_timer(self, *, timeout: str = ..., excess_stops: bool = ...) -> Mechanism: ...

admission: _Admission

class _Termination:
    def per_packet(self) -> Mechanism: ...
    def sustainable_rate(
        self,
        *,
        interval: str = ...,
        factor: float = ...,
        limit: float = ...,
    ) -> Mechanism: ...

termination: _Termination

class _Fairness:
    def aggressive(
        self,
        *,
        interval: str = ...,
        age: int = ...,
        ramp: int = ...,
        low_pass: int = ...,
        low_threshold: float = ...,
        high_threshold: float = ...,
        rate_high: float = ...,
        rate_low: float = ...,
        reserved: str = ...,
    ) -> Mechanism: ...
    def conservative(
        self,
        *,
        first: Literal["share", "own"] = ...,
        active: int = ...,
        interval: str = ...,
        age: int = ...,
        ramp: int = ...,
        low_pass: int = ...,
        low_threshold: float = ...,
        high_threshold: float = ...,
        rate_high: float = ...,
        rate_low: float = ...,
        reserved: str = ...,
    ) -> Mechanism: ...
    def none(self) -> Mechanism: ...
    def srp_fa(
        self,
        *,
        interval: str = ...,
        age: int = ...,
        lp_fwd: int = ...,
        lp_my_usage: int = ...,
        lp_allow: int = ...,
        low_threshold: str = ...,
        usage: Literal["low", "all"] = ...,
        forward: Literal["low", "all"] = ...,
    ) -> Mechanism: ...
    def voq(self, *, interval: str = ..., activity: str = ..., depth: str = ...) -> Mechanism: ...

fairness: _Fairness

class _Traffic:
    def adaptive_video(
        self,
        *,
        rates: Sequence[str],
        selection: Literal["buffer", "throughput"] = ...,
        chunk: str = ...,
        buffer: str = ...,
        reservoir: str = ...,
        cushion: str = ...,
        request: str = ...,
        connection: Literal["fresh", "persistent"] = ...,
    ) -> Mechanism: ...
    def bulk(self, *, on: str = ..., off: str = ...) -> Mechanism: ...
    def cbr(
        self,
        *,
        rate: str,
        size: str,
        jitter: float = ...,
        random_phase: bool = ...,
    ) -> Mechanism: ...
    def file(
        self,
        *,
        size: str = ...,
        sizes: Mechanism | Mapping[str, Any] | str = ...,
        count: int = ...,
        interval: str = ...,
    ) -> Mechanism: ...
    def on_off(self, *, rate: str, size: str, on: str = ..., off: str = ...) -> Mechanism: ...
    def packmime(self, *, rate: str, persistent: float = ...) -> Mechanism: ...
    def pareto(
        self,
        *,
        rate: str,
        size: str,
        on: str = ...,
        off: str = ...,
        shape: float = ...,
    ) -> Mechanism: ...
    def poisson(
        self,
        *,
        rate: str,
        size: str,
        sizes: Literal["fixed", "exponential"] = ...,
    ) -> Mechanism: ...
    def pulses(
        self,
        *,
        rate: str,
        size: str,
        on: str = ...,
        off: str = ...,
        random_phase: bool = ...,
    ) -> Mechanism: ...
    def requests(
        self,
        *,
        think: str,
        think_times: Literal["exponential", "uniform"] = ...,
        sizes: Mechanism | Mapping[str, Any] | str,
        objects: int = ...,
        connections: int = ...,
        request: str = ...,
        retry: str = ...,
        connection: Literal["fresh", "persistent"] = ...,
    ) -> Mechanism: ...
    def tmix(
        self,
        *,
        rate: str = ...,
        load: str = ...,
        segment: str = ...,
        header: str = ...,
        next_connection: float = ...,
        train_gap: str = ...,
        persistent: float = ...,
        next_exchange: float = ...,
        requests: Mechanism | Mapping[str, Any] | str = ...,
        responses: Mechanism | Mapping[str, Any] | str = ...,
        tail: Mechanism | Mapping[str, Any] | str = ...,
        tail_share: float = ...,
        think: str = ...,
        server: str = ...,
    ) -> Mechanism: ...
    def trace(
        self,
        *,
        file: str,
        source: str = ...,
        destination: str = ...,
        protocol: str = ...,
    ) -> Mechanism: ...
    def transfers(
        self,
        *,
        rate: str = ...,
        load: str = ...,
        sizes: Mechanism | Mapping[str, Any] | str,
        connection: Literal["fresh", "persistent"] = ...,
    ) -> Mechanism: ...
    def video(
        self,
        *,
        line_rate: str,
        frames_per_second: float = ...,
        pixels: int = ...,
        correlation: float = ...,
        gain: float = ...,
        innovation_mean: float = ...,
        mtu: str = ...,
        header: str = ...,
    ) -> Mechanism: ...
    def voice(
        self,
        *,
        codec: Literal["g711_20ms", "g711_10ms", "g729_20ms", "dual_rate"],
        silence_suppression: bool = ...,
        on: str = ...,
        off: str = ...,
        start: Literal["stationary", "either", "on", "off"] = ...,
    ) -> Mechanism: ...

traffic: _Traffic

class _Sizes:
    def cache(self) -> Mechanism: ...
    def cdf(
        self,
        *,
        sizes: Sequence[str] = ...,
        shares: Sequence[float] = ...,
        file: str = ...,
    ) -> Mechanism: ...
    def constant(self, *, size: str) -> Mechanism: ...
    def data_mining(self) -> Mechanism: ...
    def hadoop(self) -> Mechanism: ...
    def lognormal(self, *, mean: str, sigma: float = ...) -> Mechanism: ...
    def pareto(self, *, min: str, shape: float = ..., max: str = ...) -> Mechanism: ...
    def web_search(self) -> Mechanism: ...

sizes: _Sizes

class _Control:
    def reno(self, *, beta_ecn: float = ...) -> Mechanism: ...
    def bbr(
        self,
        *,
        startup_gain: float = ...,
        cwnd_gain: float = ...,
        bandwidth_rounds: int = ...,
        min_rtt_window: str = ...,
        probe_rtt_time: str = ...,
    ) -> Mechanism: ...
    def bbr3(
        self,
        *,
        loss_threshold: float = ...,
        beta: float = ...,
        headroom: float = ...,
        probe_rtt_interval: str = ...,
        probe_rtt_time: str = ...,
    ) -> Mechanism: ...
    def binomial(
        self,
        *,
        increase_power: float = ...,
        decrease_power: float = ...,
        increase: float = ...,
        decrease: float = ...,
    ) -> Mechanism: ...
    def cubic(
        self,
        *,
        c: float = ...,
        beta: float = ...,
        fast_convergence: bool = ...,
        hystart: bool = ...,
        hystart_law: Literal["linux", "rfc9406", "search"] = ...,
        alpha_law: Literal["linux", "rfc9438"] = ...,
        beta_ecn: float = ...,
    ) -> Mechanism: ...
    def dctcp(
        self,
        *,
        gain: float = ...,
        initial_share: float = ...,
        min_window: int = ...,
    ) -> Mechanism: ...
    def highspeed(
        self,
        *,
        law: Literal["linux", "rfc3649"] = ...,
        low_window: int = ...,
        high_window: int = ...,
        high_p: float = ...,
        high_decrease: float = ...,
    ) -> Mechanism: ...
    def ledbat(
        self,
        *,
        target: str = ...,
        gain: float = ...,
        base_history: int = ...,
        current_filter: int = ...,
        allowed_increase: int = ...,
    ) -> Mechanism: ...
    def prague(
        self,
        *,
        gain: float = ...,
        initial_share: float = ...,
        reference_rtt: str = ...,
        rtt_transition: int = ...,
        beta: float = ...,
        least_window: float = ...,
    ) -> Mechanism: ...
    def scalable(
        self,
        *,
        increase: float = ...,
        decrease: float = ...,
        legacy_window: int = ...,
    ) -> Mechanism: ...
    def vegas(self, *, alpha: float = ..., beta: float = ..., gamma: float = ...) -> Mechanism: ...
    def westwood(self, *, memory: float = ..., least_interval: str = ...) -> Mechanism: ...

control: _Control

class _Detector:
    def discard(self, *, hold_off: str = ...) -> Mechanism: ...
    def input_rate(
        self,
        *,
        interval: str = ...,
        weight: float = ...,
        memory: Literal["filtered", "raw"] = ...,
        threshold: float = ...,
        share: float = ...,
        hold_off: str = ...,
        discards: bool = ...,
        order: Literal["discard_first", "rate_first"] = ...,
    ) -> Mechanism: ...
    def queue_length(
        self,
        *,
        threshold: float = ...,
        hold_off: str = ...,
        discards: bool = ...,
    ) -> Mechanism: ...

detector: _Detector

class _Explicit_rate:
    def erica(
        self,
        *,
        interval: str = ...,
        packets: int = ...,
        target: float = ...,
        delta: float = ...,
        decay: float = ...,
        weight: float = ...,
    ) -> Mechanism: ...

explicit_rate: _Explicit_rate

class _Activity:
    def files(
        self,
        *,
        rate: str,
        size: str = ...,
        gap: str = ...,
        start: float = ...,
    ) -> Mechanism: ...
    def sessions(
        self,
        *,
        rate: str,
        low_rate: str = ...,
        high_time: str = ...,
        low_time: str = ...,
        start_high: float = ...,
        active: str = ...,
        idle: str = ...,
        start: float = ...,
    ) -> Mechanism: ...

activity: _Activity

class _Pace:
    def abr(
        self,
        *,
        mcr: float = ...,
        icr: float = ...,
        rif: float = ...,
        nrm: int = ...,
        trm: str = ...,
        adtf: str = ...,
        crm: int = ...,
        cdf: float = ...,
    ) -> Mechanism: ...
    def steps(
        self,
        *,
        rtt: str = ...,
        cut: float = ...,
        cut_discard: float = ...,
        floor: float = ...,
        ceiling: float = ...,
        increase: float = ...,
        start: float = ...,
        start_increase: float = ...,
        ignore: str = ...,
        restart_timer: bool = ...,
    ) -> Mechanism: ...
    def uncontrolled(
        self,
        *,
        rtt: str = ...,
        start: float = ...,
        start_increase: float = ...,
    ) -> Mechanism: ...

pace: _Pace

class _Adaptation:
    def constant(self) -> Mechanism: ...
    def gcc(
        self,
        *,
        report_interval: str = ...,
        burst_time: str = ...,
        state_noise: float = ...,
        initial_error: float = ...,
        noise_weight: float = ...,
        rate_groups: int = ...,
        scale_groups: int = ...,
        threshold: str = ...,
        min_threshold: str = ...,
        max_threshold: str = ...,
        threshold_outlier: str = ...,
        threshold_rise: float = ...,
        threshold_fall: float = ...,
        overuse_time: str = ...,
        window: str = ...,
        increase: float = ...,
        reaction: str = ...,
        decrease: float = ...,
        receiving_bound: float = ...,
        smoothing: float = ...,
        deviations: float = ...,
        loss_low: float = ...,
        loss_high: float = ...,
        loss_increase: float = ...,
        loss_decrease: float = ...,
        pacing: float = ...,
    ) -> Mechanism: ...
    def nada(
        self,
        *,
        priority: float = ...,
        reference_delay: str = ...,
        kappa: float = ...,
        eta: float = ...,
        tau: str = ...,
        report_interval: str = ...,
        window: str = ...,
        queue_threshold: str = ...,
        filter_delay: str = ...,
        ramp_up_max: float = ...,
        ramp_up_delay: str = ...,
        loss_memory: float = ...,
        warping_delay: str = ...,
        warping: float = ...,
        loss_reference: float = ...,
        mark_reference: float = ...,
        loss_delay: str = ...,
        mark_delay: str = ...,
        smoothing: float = ...,
        buffer_encoder: float = ...,
        buffer_sending: float = ...,
    ) -> Mechanism: ...
    def scream(
        self,
        *,
        delay_target: str = ...,
        delay_target_max: str = ...,
        competing: bool = ...,
        delay_weight: float = ...,
        trend_threshold: float = ...,
        trend_low: float = ...,
        resume_after: str = ...,
        min_window: str = ...,
        flight_headroom: float = ...,
        gain: float = ...,
        loss_window: float = ...,
        mark_backoff: float = ...,
        loss_rate: float = ...,
        mss: str = ...,
        adjust_interval: str = ...,
        ramp_up: str = ...,
        congestion_guard: float = ...,
        buffer_factor: float = ...,
        buffer_delay: str = ...,
        buffer_backoff: float = ...,
        min_pace: str = ...,
        base_history: int = ...,
        loss_weight: float = ...,
        min_timeout: str = ...,
        report_interval: str = ...,
    ) -> Mechanism: ...

adaptation: _Adaptation

class _Path:
    def ecmp(self, *, salted: bool = ...) -> Mechanism: ...
    def flowlet(self, *, gap: str = ...) -> Mechanism: ...
    def spray(self, *, order: Literal["random", "in_turn"] = ...) -> Mechanism: ...

path: _Path

class _Pairs:
    def all(self) -> Mechanism: ...
    def incast(self, *, fan_in: int) -> Mechanism: ...
    def permutation(self) -> Mechanism: ...
    def random(self) -> Mechanism: ...

pairs: _Pairs

def tcp(
    *,
    profile: Literal["linux", "rfc", "1990s"] = ...,
    handshake: bool = ...,
    mss: str = ...,
    header: str = ...,
    recovery: Literal["reno", "newreno", "sack"] = ...,
    loss_detection: Literal["dupacks", "rack"] = ...,
    tail_loss_probe: bool = ...,
    dsack: bool = ...,
    recovery_window: Literal["rfc6675", "prr"] = ...,
    undo: Literal["dsack", "eifel", "both"] = ...,
    frto: bool = ...,
    newreno_timer: Literal["impatient", "slow-but-steady"] = ...,
    dupack_threshold: int = ...,
    limited_transmit: bool = ...,
    byte_counting: bool = ...,
    slow_start_limit: int = ...,
    sack_at_timeout: Literal["clear", "keep"] = ...,
    sack_header_bytes: bool = ...,
    initial_window: str = ...,
    initial_ssthresh: str = ...,
    window: str = ...,
    max_burst: int = ...,
    idle_restart: bool = ...,
    delayed_ack: bool = ...,
    delayed_ack_timeout: str = ...,
    quick_acks: int = ...,
    prompt_acks: bool = ...,
    rto_tick: str = ...,
    rto_min: str = ...,
    rto_max: str = ...,
    rto_initial: str = ...,
    timestamps: bool = ...,
    rtt_gain: Literal["sample", "round_trip"] = ...,
    reported_rtt: Literal["exact", "ticks"] = ...,
    ecn: bool = ...,
    ecn_echo: Literal["rfc3168", "rfc8257", "accecn"] = ...,
    accecn_option: bool = ...,
    pacing: Literal["none", "window"] = ...,
    control: Mechanism | None = ...,
) -> dict[str, Any]: ...

def udp(*, header: str = ..., echo: bool = ..., echo_dscp: str | int = ...) -> dict[str, Any]: ...

def media(
    *,
    frame_rate: float = ...,
    min_rate: str = ...,
    max_rate: str = ...,
    start_rate: str = ...,
    reaction: str = ...,
    size_scale: float = ...,
    payload: str = ...,
    header: str = ...,
    report: str = ...,
    ecn: bool = ...,
    adaptation: Mechanism | None = ...,
) -> dict[str, Any]: ...

def calls(
    *,
    rate: str = ...,
    sources: int = ...,
    batch: float = ...,
    batch_law: Literal["geometric", "fixed"] = ...,
    holding: str = ...,
    holding_from: Literal["media", "arrival"] = ...,
    media_delay: str = ...,
    initial: int = ...,
    surges: Sequence[Mapping[str, Any]] | None = ...,
) -> dict[str, Any]: ...

def paced(
    *,
    size: str = ...,
    header: str = ...,
    activity: Mechanism | None = ...,
    pace: Mechanism | None = ...,
    frames: Mapping[str, Any] | None = ...,
    efcn: Mapping[str, Any] | None = ...,
) -> dict[str, Any]: ...

def policing(
    *,
    at: str = ...,
    peak: Mapping[str, Any] | None = ...,
    bucket: Mapping[str, Any] | None = ...,
) -> dict[str, Any]: ...
