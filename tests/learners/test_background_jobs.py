"""Jobs in rounds beside the caller: all are done, in order of rounds, and errors are raised."""

import threading
import time
from functools import partial

import pytest

from labelcover.learners.background_jobs import BackgroundJobs


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_results_are_in_the_order_of_the_jobs(n_threads):
    jobs = BackgroundJobs(n_threads)
    first = jobs.add([partial(int, number) for number in range(20)])
    second = jobs.add([partial(sum, first), partial(max, first)])
    nothing = jobs.add([])
    jobs.finish()
    assert (first, second, nothing) == (list(range(20)), [190, 19], [])


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_a_round_begins_when_all_jobs_of_the_one_before_have_ended(n_threads):
    jobs, ended = BackgroundJobs(n_threads), []

    def job(number):
        seen = len(ended)
        time.sleep(0.001 * (number % 3))
        ended.append(number)
        return seen

    jobs.add([partial(job, number) for number in range(6)])
    later = jobs.add([partial(job, number) for number in range(6)])
    jobs.finish()
    assert min(later) >= 6
    assert len(ended) == 12


def test_a_round_that_is_added_late_is_begun_in_threads():
    jobs = BackgroundJobs(2)
    jobs.add([threading.get_ident])
    done = threading.Event()
    time.sleep(0.01)  # the thread has nothing left to do
    jobs.add([done.set])
    assert done.wait(10)
    jobs.finish()


def test_jobs_go_on_beside_the_caller_who_joins_in_the_end():
    jobs, both_here = BackgroundJobs(2), threading.Barrier(2, timeout=10)

    def meet():
        both_here.wait()
        return threading.get_ident()

    met = jobs.add([meet, meet])
    jobs.finish()
    assert threading.get_ident() in met
    assert len(set(met)) == 2


@pytest.mark.parametrize("n_threads", [1, 3])
def test_an_error_is_raised_and_no_further_job_begun(n_threads):
    jobs, begun = BackgroundJobs(n_threads), []
    jobs.add([lambda: 1 // 0])
    jobs.add([partial(begun.append, 1)])
    with pytest.raises(ZeroDivisionError):
        jobs.finish()
    assert begun == []


def test_jobs_that_are_stopped_begin_no_more():
    jobs, goes_on, begun = BackgroundJobs(2), threading.Event(), []
    jobs.add([goes_on.wait])
    jobs.add([partial(begun.append, 1)])
    threading.Timer(0.01, goes_on.set).start()
    jobs.stop()
    assert begun == []
