"""A process counts as stopped by the seconds since its last sign, counted by each side for itself."""

from dovetail.store.lease import Lease, Observer


class Clocks:
    """Clocks that a test moves."""

    def __init__(self) -> None:
        self.monotonic = 100.0
        self.wall = 1_700_000_000.0

    def read(self) -> tuple[float, ...]:
        return self.monotonic, self.wall

    def pass_time(self, seconds: float) -> None:
        self.monotonic += seconds
        self.wall += seconds


def begin(takeover: float | None) -> tuple[Lease, Clocks]:
    clocks = Clocks()
    lease = Lease(takeover, clocks.read)
    lease.renew(lease.begin())
    return lease, clocks


def test_a_life_lasts_as_long_as_signs_are_given() -> None:
    lease, clocks = begin(10)
    for _ in range(20):
        clocks.pass_time(lease.interval)
        assert not lease.renew(lease.begin())
    assert lease.life == 1


def test_a_process_that_stood_still_begins_a_new_life() -> None:
    lease, clocks = begin(10)
    clocks.pass_time(lease.seconds or 0)
    assert lease.life is None
    assert lease.renew(lease.begin())
    assert lease.life == 2


def test_a_connection_that_was_lost_ends_a_life_at_once() -> None:
    lease, _ = begin(10)
    lease.end()
    assert lease.life is None
    assert lease.renew(lease.begin())
    assert lease.life == 2


def test_a_clock_that_was_set_back_ends_no_life_and_hides_no_pause() -> None:
    lease, clocks = begin(10)
    clocks.wall -= 86_400
    assert lease.life == 1
    clocks.monotonic += 10
    assert lease.life is None


def test_a_machine_whose_monotonic_clock_stood_still_notices_by_another_clock() -> None:
    lease, clocks = begin(10)
    clocks.wall += 60
    assert lease.life is None


def test_without_a_take_over_a_life_ends_only_with_its_connection() -> None:
    lease, clocks = begin(None)
    clocks.pass_time(1_000_000)
    assert lease.life == 1


def test_ten_seconds_without_a_turn_cost_no_lease_by_default_and_others_have_time_to_take_over() -> None:
    lease = Lease(15.0)
    assert 10.0 + lease.interval < (lease.seconds or 0) < 15.0 - lease.interval


def watch(takeover: float) -> tuple[Observer, Clocks]:
    lease, clocks = begin(takeover)
    return Observer(lease, lambda: clocks.monotonic), clocks


def test_a_process_without_new_signs_has_stopped_and_is_reported_once() -> None:
    observer, clocks = watch(10)
    reports: list[bool] = []
    for turn in range(20):
        clocks.pass_time(1)
        reports.append(observer.look({"frozen": 7, "alive": turn}))
    assert observer.has_stopped("frozen")
    assert not observer.has_stopped("alive")
    assert reports.count(True) == 1


def test_a_process_that_wakes_up_is_alive_again() -> None:
    observer, clocks = watch(10)
    for _ in range(20):
        clocks.pass_time(1)
        observer.look({"frozen": 7})
    observer.look({"frozen": 8})
    assert not observer.has_stopped("frozen")


def test_an_observer_that_stood_still_itself_takes_no_process_for_stopped() -> None:
    observer, clocks = watch(10)
    observer.look({"other": 1})
    clocks.pass_time(3600)
    observer.look({"other": 1})
    assert not observer.has_stopped("other")


def test_a_process_that_has_gone_is_reported() -> None:
    observer, _ = watch(10)
    observer.look({"other": 1})
    assert observer.look({})
    assert not observer.look({})
