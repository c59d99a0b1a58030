"""A study whose store is a bucket: the same table, each run once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

import sojourn

STUDY = {
    "name": "bucket", "scenario": "dumbbell-reno", "seeds": 2,
    "metrics": ["queue/bottleneck/delay_p95"], "set": {"duration": "1s", "warmup": "0s"},
    "axes": [{"name": "flows", "key": "flows.bulk.count", "values": [1, 3]}],
}  # fmt: skip


@pytest.fixture(scope="module")
def server():
    """The address of a bucket of moto's server, which answers as S3 does."""
    moto = pytest.importorskip("moto.server")
    boto3 = pytest.importorskip("boto3")
    pytest.importorskip("s3fs")
    running = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    running.start()
    host, port = running.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        boto3.client("s3").create_bucket(Bucket="sweeps")
        yield "s3://sweeps"
    running.stop()


@pytest.fixture
def bucket(server, request) -> str:
    return f"{server}/{request.node.name}"


@pytest.mark.slow
def test_a_bucket_that_is_not_there_or_not_reached_is_one_sentence(server, monkeypatch):
    fsspec = pytest.importorskip("fsspec")
    with pytest.raises(OSError, match=r"cannot be reached .*bucket does not exist") as found:
        sojourn.study.run_study(
            sojourn.study.parse(STUDY), "s3://none/x", executor=ThreadPoolExecutor(1)
        )
    assert found.value.filename == "s3://none/x"
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    fsspec.filesystem("s3").clear_instance_cache()
    with pytest.raises(OSError, match=r"cannot be reached .*the keys and the network"):
        sojourn.study.open_results(f"{server}/y", pytest.fail).status()
    fsspec.filesystem("s3").clear_instance_cache()


@pytest.mark.slow
def test_a_store_in_a_bucket_has_the_table_of_a_local_one_and_goes_on(bucket, tmp_path):
    study = sojourn.study.parse(STUDY)
    local = sojourn.study.run_study(study, tmp_path, executor=ThreadPoolExecutor(2))
    far = sojourn.study.run_study(study, bucket, executor=ThreadPoolExecutor(2), report=pytest.fail)
    assert far.to_arrow().equals(local.to_arrow())
    assert far.to_arrow().num_rows == 4
    folder = far.store.folder
    assert folder.names("fragments") == []
    (table,) = folder.names("table")
    more = sojourn.study.parse(STUDY | {"seeds": 3})
    again = sojourn.study.run_study(
        more, bucket, executor=ThreadPoolExecutor(2), report=pytest.fail
    )
    assert again.to_arrow().num_rows == 6
    # Existing runs are untouched; only the third seeds were run and added.
    assert table in folder.names("table")
    assert sojourn.study.open_results(bucket, pytest.fail).status().made == 6


@pytest.mark.slow
def test_damage_in_a_bucket_is_reported_and_made_again(bucket):
    study = sojourn.study.parse(STUDY)
    first = sojourn.study.run_study(study, bucket, executor=ThreadPoolExecutor(2))
    (name,) = first.store.folder.names("table")
    first.store.folder.write(name, b"not what its name says")
    reported: list[str] = []
    again = sojourn.study.run_study(
        study, bucket, executor=ThreadPoolExecutor(2), report=reported.append
    )
    assert len(reported) == 1
    assert "is damaged" in reported[0]
    assert again.to_arrow().equals(first.to_arrow())
