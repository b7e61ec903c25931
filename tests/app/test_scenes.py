import hashlib
import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from app.scenes import find_scene, list_scenes, load_scene, scene_from_image
from engine.errors import BadValue, FileProblem
from engine.protocol import StartPose

WORDS = (
    "title: Autumn shore\nprompt: a calm sea\nmap_seed: 7\nstart: {x_metres: 12.5, z_metres: -40, yaw_degrees: 90}\n"
)
RED, GREEN, BLUE = (255, 0, 0), (0, 255, 0), (0, 0, 255)


def scene(assets: Path, name="shore", words=WORDS, size=(20, 10)) -> Path:
    folder = assets / "scenes" / name
    folder.mkdir(parents=True)
    (folder / "scene.yaml").write_text(words, encoding="utf-8")
    Image.new("RGB", size, RED).save(folder / "image.png")
    return folder


def halves(left, right, size=(40, 20), mode="RGB") -> Image.Image:
    image = Image.new(mode, size, left)
    image.paste(right, (size[0] // 2, 0, *size))
    return image


def opened(image: Image.Image, path: Path, width=40, height=20, **options):
    image.save(path, **options)
    return scene_from_image(path, "a field", width, height).image


def near(pixel, colour, tolerance=6):
    return np.abs(pixel.astype(int) - colour).max() <= tolerance


# ---- scenes of our own -------------------------------------------------------------------------------------------


def test_a_scene_is_loaded_with_its_picture(tmp_path):
    spec = load_scene(scene(tmp_path))
    assert (spec.name, spec.prompt, spec.map_seed, spec.own_image) == ("shore", "a calm sea", 7, False)
    assert spec.start == StartPose(12.5, -40.0, 90.0)
    assert spec.image.shape == (10, 20, 3)
    assert spec.image_sha256 == hashlib.sha256((tmp_path / "scenes/shore/image.png").read_bytes()).hexdigest()


def test_scenes_are_listed_by_name_with_their_titles(tmp_path):
    scene(tmp_path, "wood", WORDS.replace("Autumn shore", "Wood"))
    scene(tmp_path, "dunes")
    (tmp_path / "scenes" / "notes").mkdir()
    assert [(card.name, card.title) for card in list_scenes(tmp_path)] == [("dunes", "Autumn shore"), ("wood", "Wood")]
    assert list_scenes(tmp_path / "none") == ()


@pytest.mark.parametrize("name", ["snow", "", "..", "../scenes/shore", "shore/", "s" * 1000, "a\0b"])
def test_an_unknown_scene_names_the_known_ones(tmp_path, name):
    scene(tmp_path)
    scene(tmp_path, "wood")
    with pytest.raises(BadValue, match="one of shore, wood"):
        find_scene(tmp_path, name)
    assert find_scene(tmp_path, "shore").name == "shore"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("title: Autumn shore\n", "", "no title"),
        ("map_seed: 7\n", "", "no map_seed"),
        ("title: Autumn shore", "title: no", "scene.yaml:1"),
        ("title: Autumn shore", "title: 3", "title: got the whole number 3"),
        ("prompt: a calm sea", "prompt: ' '", "scene.yaml:2, prompt: got the text ' '"),
        ("prompt: a calm sea", "prompt: [a]", "scene.yaml:2"),
        ("map_seed: 7", "map_seed: -7", "scene.yaml:3, map_seed"),
        ("map_seed: 7", "map_seed: true", "scene.yaml:3, map_seed"),
        ("map_seed: 7", "map_sed: 7", "map_sed"),
        ("x_metres: 12.5", "x_metres: .nan", "scene.yaml:4, start.x_metres"),
        ("x_metres: 12.5", "x_metres: 1e9", "start.x_metres: got the number 1000000000.0"),
        ("x_metres: 12.5", "x: 12.5", "start.x"),
        ("yaw_degrees: 90}", "yaw_degrees: east}", "start.yaw_degrees"),
        ("start: {", "begin: {", "begin"),
        (WORDS, "- a\n", "scene.yaml:1"),
        (WORDS, "", "scene.yaml:1"),
    ],
)
def test_a_mistake_in_a_scene_names_file_line_and_value(tmp_path, old, new, says):
    folder = scene(tmp_path, words=WORDS.replace(old, new))
    with pytest.raises(BadValue) as caught:
        load_scene(folder)
    assert says in str(caught.value)


def test_the_start_may_be_left_out(tmp_path):
    assert load_scene(scene(tmp_path, words=WORDS[: WORDS.index("start")])).start == StartPose()


def test_a_scene_without_its_picture_is_told(tmp_path):
    folder = scene(tmp_path)
    (folder / "image.png").unlink()
    with pytest.raises(FileProblem, match=r"image\.png: no such file"):
        load_scene(folder)


# ---- pictures of one's own ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["png", "jpg", "webp", "bmp", "gif", "tiff", "ppm", "tga"])
def test_every_common_format_is_read(tmp_path, suffix):
    pixels = opened(halves(RED, BLUE), tmp_path / f"eine Wiese ü.{suffix}")
    assert (pixels.shape, pixels.dtype) == ((20, 40, 3), np.uint8)
    assert near(pixels[10, 4], RED)
    assert near(pixels[10, 35], BLUE)


def test_what_is_known_of_the_picture(tmp_path):
    path = tmp_path / "field.png"
    halves(RED, BLUE).save(path)
    spec = scene_from_image(path, "a field", 8, 8)
    assert (spec.name, spec.prompt, spec.own_image) == ("field", "a field", True)
    assert spec.image_sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_first_frame_of_an_animation_is_taken(tmp_path):
    frames = [Image.new("RGB", (40, 20), colour) for colour in (RED, GREEN, BLUE)]
    assert near(opened(frames[0], tmp_path / "a.gif", save_all=True, append_images=frames[1:])[10, 20], RED)


def test_sixteen_bit_greys_keep_their_range(tmp_path):
    ramp = np.linspace(0, 65535, 40).astype(np.uint16)[None].repeat(20, 0)
    for suffix in ("png", "tiff"):
        pixels = opened(Image.fromarray(ramp), tmp_path / f"a.{suffix}")
        assert near(pixels[10], np.linspace(0, 255, 40)[:, None].repeat(3, 1), 2)


@pytest.mark.parametrize("full", [1.0, 255.0])
def test_greys_in_floating_point_are_read(tmp_path, full):
    ramp = np.linspace(0, full, 40, dtype=np.float32)[None].repeat(20, 0)
    ramp[0, 0] = np.nan
    assert near(opened(Image.fromarray(ramp), tmp_path / "a.tiff")[10, 39], (255, 255, 255))


@pytest.mark.parametrize(
    ("mode", "left", "right"), [("L", 255, 0), ("1", 1, 0), ("P", 1, 0), ("CMYK", (0,) * 4, (0, 0, 0, 255))]
)
def test_every_kind_of_pixel_becomes_rgb(tmp_path, mode, left, right):
    image = halves(left, right, mode=mode)
    if mode == "P":
        image.putpalette([0, 0, 0, 255, 255, 255])
    pixels = opened(image, tmp_path / ("a.tiff" if mode == "CMYK" else "a.png"))
    assert near(pixels[10, 4], (255, 255, 255))
    assert near(pixels[10, 35], (0, 0, 0))


def test_what_is_transparent_becomes_black(tmp_path):
    assert near(opened(halves((255, 0, 0, 255), (255, 0, 0, 0), mode="RGBA"), tmp_path / "a.png")[10, 35], (0, 0, 0))
    assert near(opened(halves((200, 255), (200, 0), mode="LA"), tmp_path / "b.png")[10, 35], (0, 0, 0))
    palette = halves(0, 1, mode="P")
    palette.putpalette([255, 0, 0, 0, 255, 0])
    pixels = opened(palette, tmp_path / "c.png", transparency=1)
    assert near(pixels[10, 4], RED)
    assert near(pixels[10, 35], (0, 0, 0))


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_picture_stands_upright_whatever_its_exif_says(tmp_path, orientation):
    upright = halves(RED, BLUE)
    upright.paste(GREEN, (0, 0, 20, 10))
    undo = {2: 0, 3: 3, 4: 1, 5: 5, 6: 2, 7: 6, 8: 4}  # Pillow's transpositions that each orientation undoes
    stored = upright if orientation == 1 else upright.transpose(Image.Transpose(undo[orientation]))
    exif = Image.Exif()
    exif[0x0112] = orientation
    pixels = opened(stored, tmp_path / "a.png", exif=exif)
    assert near(pixels[4, 9], GREEN)
    assert near(pixels[15, 9], RED)
    assert near(pixels[4, 30], BLUE)


def test_a_damaged_exif_block_is_no_reason_to_refuse_the_picture(tmp_path):
    pixels = opened(
        halves(RED, BLUE), tmp_path / "a.jpg", exif=b"Exif\0\0II*\0\x08\0\0\0\xff\xff\x12\x01" + b"\xff" * 40
    )
    assert pixels.shape == (20, 40, 3)


@pytest.mark.parametrize("size", [(400, 100), (100, 400), (97, 31), (7, 3), (3000, 2000)])
def test_a_picture_is_fitted_by_scale_and_centre_crop_without_distortion(tmp_path, size):
    y, x = np.mgrid[: size[1], : size[0]].astype(np.float64) + 0.5
    radius = min(size) / 4
    disc = (np.hypot(x - size[0] / 2, y - size[1] / 2) <= radius)[..., None] * np.full(3, 255.0)
    pixels = opened(Image.fromarray(disc.astype(np.uint8)), tmp_path / "a.png", 192, 112)
    bright = pixels[..., 0] > 127
    rows, columns = np.flatnonzero(bright.any(1)), np.flatnonzero(bright.any(0))
    assert abs((rows[0] + rows[-1]) / 2 - 55.5) <= 1.5
    assert abs((columns[0] + columns[-1]) / 2 - 95.5) <= 1.5
    scale = max(192 / size[0], 112 / size[1])
    if 2 * radius * scale < 112 and min(size) > 20:  # a circle that is not cut stays one
        assert abs(len(rows) - len(columns)) <= 3


@pytest.mark.parametrize("size", [(1, 1), (1, 3000), (3000, 1)])
def test_even_a_line_of_pixels_fills_the_frame(tmp_path, size):
    assert near(opened(Image.new("RGB", size, RED), tmp_path / "a.png", 192, 112), RED)


def test_a_picture_that_cannot_be_used_is_told_in_one_sentence(tmp_path):
    whole = io.BytesIO()
    Image.effect_noise((64, 64), 90).save(whole, "PNG")
    jpeg = io.BytesIO()
    Image.effect_noise((64, 64), 90).save(jpeg, "JPEG")
    cases = {
        "empty": (b"", "is empty"),
        "text": (b"this is no picture", "not a picture"),
        "pointer": (b"version https://git-lfs.github.com/spec/v1\n", "not a picture"),
        "cut": (whole.getvalue()[:1000], "damaged"),
        "cut_jpeg": (jpeg.getvalue()[:900], "damaged"),
        "head": (whole.getvalue()[:20], "picture|damaged"),
    }
    for name, (data, says) in cases.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(FileProblem, match=says) as caught:
            scene_from_image(tmp_path / name, "a field", 40, 20)
        assert "\n" not in str(caught.value)
    with pytest.raises(FileProblem, match="no such file"):
        scene_from_image(tmp_path / "none.png", "a field", 40, 20)
    with pytest.raises(FileProblem, match="folder"):
        scene_from_image(tmp_path, "a field", 40, 20)
    with pytest.raises(FileProblem, match="cannot be read"):
        scene_from_image(tmp_path / ("n" * 3000), "a field", 40, 20)


def test_a_picture_of_too_many_pixels_is_not_opened(tmp_path):
    for name, size in (("large.png", (10_000, 9_000)), ("bomb.png", (20_000, 20_000))):
        Image.new("1", size).save(tmp_path / name)
        with pytest.raises(FileProblem, match="pixels"):
            scene_from_image(tmp_path / name, "a field", 40, 20)


def test_any_damage_to_a_picture_gives_a_picture_or_a_sentence(tmp_path):
    generator = np.random.default_rng(2)
    path = tmp_path / "a"
    for form in ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP"):
        whole = io.BytesIO()
        halves(RED, BLUE).save(whole, form)
        for _ in range(60):
            data = bytearray(whole.getvalue())
            for place in generator.integers(0, len(data), 3):
                data[place] = generator.integers(0, 256)
            path.write_bytes(data)
            try:
                assert scene_from_image(path, "a field", 40, 20).image.shape == (20, 40, 3)
            except FileProblem as error:
                assert "\n" not in str(error)  # noqa: PT017 - some damage does not show


@pytest.mark.parametrize("prompt", ["", " ", "x" * 2001])
def test_a_prompt_that_cannot_be_used_is_refused_before_the_picture_is_read(tmp_path, prompt):
    with pytest.raises(BadValue, match="prompt"):
        scene_from_image(tmp_path / "none.png", prompt, 40, 20)
