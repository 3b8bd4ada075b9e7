"""Resources as text: tables whole, images in words, and whatever one registers."""

from __future__ import annotations

from edgeward.profiles.rag.content import Resource, table
from edgeward.profiles.rag.renderer import DataUriRenderer, ResourceRenderer

IMAGE = Resource("image", b"\x89PNG", "image/png", "a chart")


def test_d090_a_table_is_shown_whole_with_its_caption():
    """As Markdown."""
    assert ResourceRenderer().render(table("| a |", "Parts")) == "Parts\n\n| a |"


def test_an_image_is_shown_in_words():
    """With its type and size; one that the document only refers to has none."""
    assert ResourceRenderer().render(IMAGE) == "a chart (image/png, 4 bytes)"
    named = Resource("image", b"", "text/uri-list")
    assert ResourceRenderer().render(named) == "an image (text/uri-list)"


def test_d090_renderers_are_pluggable():
    """One that is put first is asked first; one behind gets what nobody knows."""
    renderer = ResourceRenderer()
    renderer.register(DataUriRenderer(), prepend=True)
    assert renderer.render(IMAGE) == "data:image/png;base64,iVBORw=="

    class Sounds:
        def supports(self, resource):
            return resource.kind == "sound"

        def render(self, resource):
            return "la la"

    sound = Resource("sound", b"xx", "audio/wav")
    assert renderer.render(sound) == "a resource of type audio/wav, 2 bytes"
    renderer.register(Sounds())
    assert renderer.render(sound) == "la la"
