"""Images beside a task: which are sent, in which form, and which are refused before any request."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage

from edgeward.nodes import _images
from edgeward.policies.yaml_file import ConfigValidationError
from edgeward.profiles.images import (
    SHOWN_ONCE,
    ImageRefused,
    ImagesBlock,
    image_type,
    with_images,
)
from edgeward.profiles.schema import AgentProfile
from edgeward.profiles.sent import sendable_messages

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01" + b"\0" * 40 + b"\xff\xd9"
GIF = b"GIF89a\x01\x00\x01\x00" + b"\0" * 20
WEBP = b"RIFF\x1a\0\0\0WEBPVP8 " + b"\0" * 20
KINDS = {"image/png": PNG, "image/jpeg": JPEG, "image/gif": GIF, "image/webp": WEBP}
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"/>'


def data_url(data: bytes, kind: str = "image/png") -> str:
    """Bytes as a `data:` URL."""
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An allowed folder with a picture, and a secret beside the folder."""
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures/shot.png").write_bytes(PNG)
    (tmp_path / "secret.png").write_bytes(PNG)
    return tmp_path


def urls(folder: Path, *images: str | Path, **block: object) -> list[str]:
    """The addresses that the message holds for these images."""
    fields = {"folders": ["pictures"], **block}
    made = with_images("look", list(images), block=ImagesBlock(**fields), base_dir=folder)
    assert isinstance(made.content, list)
    return [one["image_url"]["url"] for one in made.content[1:]]


@pytest.mark.parametrize("form", [str, Path])
def test_D134_a_file_is_inlined_and_addresses_pass_untouched(folder, form):
    """A path becomes base64; web addresses and data URLs stay as they are."""
    given = [
        form(folder / "pictures/shot.png"),
        "https://example.com/photo.jpg",
        "HTTPS://Example.com/a b.jpg".replace(" ", "%20"),
        "http://example.com/x",
        data_url(JPEG, "image/jpeg"),
    ]
    assert urls(folder, *given) == [data_url(PNG), *given[1:]]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["shot.png", "shot.jpg", "shot", "shot.webp", "shot.txt"])
def test_D135_C79_the_type_is_what_the_content_says(folder, kind, name):
    """Whatever the name: a JPEG called .png is a JPEG."""
    (folder / "pictures" / name).write_bytes(KINDS[kind])
    assert urls(folder, folder / "pictures" / name) == [data_url(KINDS[kind], kind)]


@pytest.mark.parametrize("named", ["image/jpg", "image/png", "text/plain", "", "IMAGE/JPEG"])
def test_C79_a_wrong_type_in_a_data_url_is_put_right(folder, named):
    """`image/jpg` is no type, and providers refuse it."""
    assert urls(folder, data_url(JPEG, named)) == [data_url(JPEG, "image/jpeg")]


def test_D136_text_comes_first_then_the_images_in_their_order(folder):
    """As the documented request has it."""
    images = ["https://example.com/1.png", folder / "pictures/shot.png"]
    block = ImagesBlock(folders=["pictures"])
    made = with_images("Compare them.", images, block=block, base_dir=folder)
    assert made.content == [
        {"type": "text", "text": "Compare them."},
        {"type": "image_url", "image_url": {"url": "https://example.com/1.png"}},
        {"type": "image_url", "image_url": {"url": data_url(PNG)}},
    ]


def test_D137_bytes_are_not_touched_and_nothing_is_fetched(folder):
    """No resizing; an address that nobody answers is passed on all the same."""
    big = PNG + os.urandom(100_000)
    (folder / "pictures/big.png").write_bytes(big)
    sent = urls(folder, folder / "pictures/big.png", "https://nobody.invalid/x.png")
    assert base64.b64decode(sent[0].partition(",")[2]) == big
    assert sent[1] == "https://nobody.invalid/x.png"


def test_no_text_is_no_blank_text(folder):
    """An image alone is a question too."""
    made = with_images(" ", ["https://example.com/1.png"], block=ImagesBlock(), base_dir=folder)
    assert [block["type"] for block in made.content] == ["image_url"]


REFUSED = {
    "an svg": ("drawing.svg", SVG),
    "an empty file": ("empty.png", b""),
    "a key called a picture": ("id.png", b"-----BEGIN OPENSSH PRIVATE KEY-----"),
    "a sound": ("note.mp3", b"ID3\x04" + b"\0" * 30),
    "a video": ("clip.mp4", b"\0\0\0 ftypisom" + b"\0" * 30),
    "a wave": ("note.wav", b"RIFF\x24\0\0\0WAVEfmt "),
    "a bitmap": ("old.bmp", b"BM" + b"\0" * 30),
    "half a beginning": ("cut.png", PNG[:5]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_C79_D143_what_is_no_still_image_is_refused(folder, case):
    """As a file and as a data URL, with its name and what is allowed."""
    name, data = REFUSED[case]
    (folder / "pictures" / name).write_bytes(data)
    with pytest.raises(ImageRefused, match=r"PNG, JPEG, GIF and WebP|is empty"):
        urls(folder, folder / "pictures" / name)
    with pytest.raises(ImageRefused):
        urls(folder, data_url(data))


@pytest.mark.parametrize("inside", [True, False])
def test_only_files_of_the_allowed_folders_are_sent(folder, inside):
    """A link is followed before it is looked at, whatever it is called."""
    target = folder / ("pictures/shot.png" if inside else "secret.png")
    link = folder / ("elsewhere.png" if inside else "pictures/link.png")
    link.symlink_to(target)
    if inside:
        assert urls(folder, link) == [data_url(PNG)]
    else:
        with pytest.raises(ImageRefused, match=r"images\.folders"):
            urls(folder, link)


@pytest.mark.parametrize(
    "path",
    ["secret.png", "pictures/../secret.png", "pictures/./../secret.png", "/etc/hostname"],
)
def test_a_way_out_of_the_folder_is_none(folder, path, monkeypatch):
    """Dots, absolute paths and a folder whose name only begins alike."""
    monkeypatch.chdir(folder)
    with pytest.raises(ImageRefused, match=r"images\.folders"):
        urls(folder, path)
    (folder / "pictures-private").mkdir()
    (folder / "pictures-private/x.png").write_bytes(PNG)
    with pytest.raises(ImageRefused):
        urls(folder, "pictures-private/x.png")


def test_a_linked_folder_is_followed(folder):
    """A folder of links into the allowed one is one way in; a link out of it is none."""
    (folder / "private").mkdir()
    (folder / "private/x.png").write_bytes(PNG)
    (folder / "pictures/more").symlink_to(folder / "private")
    with pytest.raises(ImageRefused, match=r"images\.folders"):
        urls(folder, folder / "pictures/more/x.png")


def test_without_a_folder_in_the_profile_no_file_is_sent(folder):
    """And the message says what to set."""
    with pytest.raises(ImageRefused, match=r"set images\.folders"):
        urls(folder, folder / "pictures/shot.png", folders=[])


def test_what_is_no_plain_file_is_not_waited_for(folder):
    """A pipe would hang the run, a folder is no image, a missing file is told."""
    os.mkfifo(folder / "pictures/pipe.png")
    for name in ("pipe.png", ".", "none.png"):
        with pytest.raises(ImageRefused):
            urls(folder, folder / "pictures" / name)


def test_size_and_number_are_bounded(folder):
    """At the bound it is sent, one byte or one image more is refused."""
    (folder / "pictures/n.png").write_bytes(PNG + b"\0" * 10)
    size = len(PNG) + 10
    path = folder / "pictures/n.png"
    assert urls(folder, path, path, max_bytes=size, max_count=2)
    with pytest.raises(ImageRefused, match="max_bytes"):
        urls(folder, path, max_bytes=size - 1)
    with pytest.raises(ImageRefused, match="larger than"):
        urls(folder, data_url(PNG + b"\0" * 10), max_bytes=size - 3)
    with pytest.raises(ImageRefused, match="max_count"):
        urls(folder, path, path, path, max_count=2)


@pytest.mark.parametrize(
    "image",
    [
        "ftp://example.com/a.png",
        "file:///etc/hostname",
        "gopher://x",
        "https://",
        "https://user:pw@example.com/a.png",
        "https://[::1/a.png",
        "https://example.com/a b.png",
        "data:image/png,abc",
        "data:image/png;base64,!!!!",
        "data:",
        "data:image/svg+xml;utf8,<svg/>",
        b"bytes",
        3,
        None,
    ],
)
def test_other_forms_are_refused_without_quoting_a_secret(folder, image):
    """With one clear sentence."""
    with pytest.raises(ImageRefused) as caught:
        urls(folder, image)
    assert "pw" not in str(caught.value)
    assert len(str(caught.value)) < 200


def test_one_path_in_place_of_a_list_is_told(folder):
    """Its letters are no images."""
    with pytest.raises(ImageRefused, match="a list"):
        with_images("x", "a.png", block=ImagesBlock(), base_dir=folder)


@pytest.mark.parametrize(
    "images", [{"folders": "x"}, {"max_bytes": 0}, {"max_count": 0}, {"shown": "never"}, {"x": 1}]
)
def test_the_block_is_strict(images):
    """Types, ranges and names."""
    with pytest.raises(ConfigValidationError, match=r"agent\.images"):
        AgentProfile.from_mapping({"id": "bot", "name": "Helper", "images": images})


@pytest.mark.parametrize("kind", KINDS)
def test_types_are_told_by_the_first_bytes(kind):
    """Of the four that every provider takes."""
    assert image_type(KINDS[kind][:16]) == kind


def image(url: str) -> HumanMessage:
    """A message of a graph with an image."""
    block = {"type": "image_url", "image_url": {"url": url, "detail": "low"}}
    return HumanMessage([{"type": "text", "text": "look"}, block])


def test_C79_images_of_a_graph_s_messages_are_put_right_too():
    """In what is sent; a message that is in order is not touched."""
    good = image(data_url(JPEG, "image/jpeg"))
    assert sendable_messages([good])[0] is good
    (made,) = sendable_messages([image(data_url(JPEG, "image/png"))])
    assert made.content[1]["image_url"] == {"url": data_url(JPEG, "image/jpeg"), "detail": "low"}


@pytest.mark.parametrize("kind", ["input_audio", "audio", "video", "video_url"])
def test_D143_sounds_and_videos_of_a_graph_are_refused(kind):
    """Before any request."""
    with pytest.raises(ImageRefused, match=kind):
        sendable_messages([HumanMessage([{"type": kind, kind: {"data": "x"}}])])


@pytest.mark.parametrize("url", ["/etc/hostname", "file:///x", data_url(SVG), "data:x", None])
def test_a_graph_s_image_that_is_none_is_refused(url):
    """A local path is never read there."""
    with pytest.raises(ImageRefused):
        sendable_messages([image(url)])


def test_both_rooms_know_the_mark_by_one_name():
    """The profile puts it on, the node reads it."""
    assert SHOWN_ONCE == _images.ONCE
