//! Content compressed with zstd or lz4, a part at a time.

use std::io::{self, BufRead, BufReader, Read};

use lz4_flex::frame::FrameDecoder as Lz4Decoder;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator};
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder as ZstdDecoder};

/// The most bytes returned at once.
const PART_BYTES: usize = 1 << 20;

/// The bytes of a Python iterator.
struct Blocks {
    iterator: Py<PyIterator>,
    block: Vec<u8>,
    read: usize,
}

impl Read for Blocks {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.read == self.block.len() {
            let next = Python::attach(|py| {
                let block = self.iterator.bind(py).clone().next()?;
                Some(block.and_then(|block| block.extract::<Vec<u8>>()))
            });
            let Some(block) = next else { return Ok(0) };
            (self.block, self.read) = (block.map_err(io::Error::other)?, 0);
        }
        let mut rest = &self.block[self.read..];
        let count = rest.read(into)?;
        self.read += count;
        Ok(count)
    }
}

/// A decoder and its source.
enum Decoder {
    Lz4(Box<Lz4Decoder<Source>>),
    /// The decoder of a frame, while one is being read.
    Zstd(Box<ZstdDecoder>, bool, Source),
}

/// The source, which also knows whether it has ended.
struct Source(BufReader<Blocks>, bool);

impl Read for Source {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(into)?;
        self.1 |= count == 0 && !into.is_empty();
        Ok(count)
    }
}

/// A reader of compressed content.
#[pyclass(module = "sojourn._core", frozen)]
pub struct Decompressor(std::sync::Mutex<Decoder>);

#[pymethods]
impl Decompressor {
    #[new]
    fn new(blocks: &Bound<'_, PyIterator>, is_zstd: bool) -> Decompressor {
        let iterator = blocks.clone().unbind();
        let blocks = Blocks { iterator, block: Vec::new(), read: 0 };
        let source = Source(BufReader::new(blocks), false);
        Decompressor(std::sync::Mutex::new(match is_zstd {
            true => Decoder::Zstd(Box::new(ZstdDecoder::new()), false, source),
            false => Decoder::Lz4(Box::new(Lz4Decoder::new(source))),
        }))
    }

    /// The next part; empty at the end.
    fn read<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut decoder = self.0.lock().expect("nothing panics while reading");
        let mut part = vec![0; PART_BYTES];
        let count = match &mut *decoder {
            Decoder::Lz4(lz4) => lz4_part(lz4, &mut part),
            Decoder::Zstd(zstd, has_begun, source) => zstd_part(zstd, has_begun, source, &mut part),
        };
        Ok(PyBytes::new(py, &part[..count?]))
    }
}

/// The decoder returns zero at the end of each frame, and of a file that lacks the end mark.
fn lz4_part(decoder: &mut Lz4Decoder<Source>, part: &mut [u8]) -> PyResult<usize> {
    loop {
        let count = decoder.read(part).map_err(|error| failed(error, decoder.get_ref().1))?;
        if count == 0 && decoder.get_ref().1 {
            return Err(cut());
        }
        if count > 0 || decoder.get_mut().0.fill_buf()?.is_empty() {
            return Ok(count);
        }
    }
}

/// Frame by frame; skippable frames are skipped.
fn zstd_part(
    decoder: &mut ZstdDecoder,
    has_begun: &mut bool,
    source: &mut Source,
    part: &mut [u8],
) -> PyResult<usize> {
    loop {
        if !*has_begun {
            if source.0.fill_buf()?.is_empty() {
                return Ok(0);
            }
            match decoder.reset(&mut *source) {
                Ok(()) => *has_begun = true,
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    let skipped = io::copy(&mut source.by_ref().take(length), &mut io::sink())?;
                    if skipped < length {
                        return Err(cut());
                    }
                }
                Err(error) => return Err(failed(io::Error::other(error), source.1)),
            }
            continue;
        }
        if decoder.can_collect() == 0 && !decoder.is_finished() {
            let decoded = decoder.decode_blocks(&mut *source, BlockDecodingStrategy::UptoBlocks(1));
            decoded.map_err(|error| failed(io::Error::other(error), source.1))?;
        }
        let count = decoder.read(part)?;
        if count > 0 {
            return Ok(count);
        }
        if decoder.is_finished() {
            let (given, computed) =
                (decoder.get_checksum_from_data(), decoder.get_calculated_checksum());
            if given.is_some() && given != computed {
                return Err(damaged("its checksum differs"));
            }
            *has_begun = false;
        }
    }
}

/// The exception of the source, or what is wrong with the content.
fn failed(error: io::Error, is_at_end: bool) -> PyErr {
    match error.downcast::<PyErr>() {
        Ok(of_source) => of_source,
        Err(_) if is_at_end => cut(),
        Err(error) => damaged(&error.to_string()),
    }
}

fn cut() -> PyErr {
    PyValueError::new_err("is cut off")
}

fn damaged(why: &str) -> PyErr {
    PyValueError::new_err(format!("is damaged ({why})"))
}
