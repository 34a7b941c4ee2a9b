//! NumPy arrays in and out of operands.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use npyz::{NpyFile, Order, WriterBuilder};
use tilewright_ir::computation::Operand;
use tilewright_ir::{DataType, read_element, write_element};

use crate::output_file;

/// Reads an operand: its bytes with the operand's strides, gaps zero.
pub(crate) fn read(path: &Path, operand: &Operand) -> Result<Vec<u8>> {
    let shown = path.display();
    let file =
        File::open(path).with_context(|| format!("cannot open {shown} for operand `{}`", operand.name))?;
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    let mut file = BufReader::new(file);
    check_header(&mut file).with_context(|| format!("{shown} is no .npy file"))?;
    let array = NpyFile::new(file).with_context(|| format!("{shown} is no .npy file"))?;
    let (found_type, wanted_type) = (array.dtype().descr(), type_name(operand.data_type)?);
    if found_type.trim_matches('\'') != wanted_type {
        bail!(
            "{shown}: operand `{}` wants elements of type {} ({wanted_type}), found {found_type}: convert it, in \
             NumPy with `.astype('{wanted_type}')`",
            operand.name,
            operand.data_type
        );
    }
    if array.shape() != operand.shape {
        bail!(
            "{shown}: operand `{}` wants shape {:?}, found {:?} (a plain array without gaps between rows; for a \
             transposed factor `layout`)",
            operand.name,
            operand.shape,
            array.shape()
        );
    }
    let layout = operand.layout();
    // Checked before anything is allocated: the header may promise more than the file holds.
    if length < operand.data_type.bytes(layout.elements()) {
        bail!("{shown} ends early: {length} bytes cannot hold {:?} of {}", operand.shape, operand.data_type);
    }
    let column_major = array.order() == Order::Fortran;
    let mut bytes = vec![0; layout.bytes() as usize];
    let values = array.into_vec::<f32>().with_context(|| format!("{shown} ends early"))?;
    for (flat, value) in values.into_iter().enumerate() {
        let at = if column_major {
            unravel_column_major(flat as u64, &operand.shape)
        } else {
            layout.unravel(flat as u64)
        };
        write_element(operand.data_type, &mut bytes, layout.offset(&at), f64::from(value));
    }
    Ok(bytes)
}

/// Longest header, bytes: that of a plain array takes about a hundred.
const LONGEST_HEADER: u64 = 1 << 12;
/// Deepest brackets of a header: those of a shape inside the dictionary, and a structured type's two more.
const DEEPEST: usize = 4;

/// Refuses headers that the parser would spend exponential time on; leaves the file where it was.
fn check_header(file: &mut BufReader<File>) -> Result<()> {
    let mut begin = [0; 12];
    let read = file.read(&mut begin)?;
    // Magic, version, and the header's length in two bytes, from version 2 on in four.
    let long = begin[6] > 1;
    let length = if long {
        u64::from(u32::from_le_bytes([begin[8], begin[9], begin[10], begin[11]]))
    } else {
        u64::from(u16::from_le_bytes([begin[8], begin[9]]))
    };
    ensure!(read == begin.len() && begin.starts_with(b"\x93NUMPY"), "it does not begin as one");
    ensure!(length <= LONGEST_HEADER, "its header has {length} bytes, at most {LONGEST_HEADER} are read");
    file.seek(SeekFrom::Start(if long { 12 } else { 10 }))?;
    let mut header = Vec::new();
    file.by_ref().take(length).read_to_end(&mut header)?;
    let mut depth = 0_usize;
    for byte in header {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        ensure!(depth <= DEEPEST, "its header has brackets in brackets more than {DEEPEST} deep");
    }
    file.rewind()?;
    Ok(())
}

/// Writes an operand, dense and row-major.
pub(crate) fn write(path: &Path, operand: &Operand, bytes: &[u8]) -> Result<()> {
    type_name(operand.data_type)?;
    let layout = operand.layout();
    output_file::write(path, |out| {
        let options = npyz::WriteOptions::<f32>::new().default_dtype().shape(&operand.shape);
        let mut writer = options.writer(out).begin_nd()?;
        for flat in 0..layout.elements() {
            let at = layout.offset(&layout.unravel(flat));
            writer.push(&(read_element(operand.data_type, bytes, at) as f32))?;
        }
        Ok(writer.finish()?)
    })
}

fn type_name(data_type: DataType) -> Result<&'static str> {
    match data_type {
        DataType::F32 => Ok("<f4"),
        other => bail!(".npy files of {other} are not supported"),
    }
}

fn unravel_column_major(mut flat: u64, shape: &[u64]) -> Vec<u64> {
    shape
        .iter()
        .map(|&extent| {
            let index = flat % extent;
            flat /= extent;
            index
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_ir::program::Role;

    fn operand(shape: &[u64], strides: &[i64]) -> Operand {
        Operand {
            name: "a".to_owned(),
            data_type: DataType::F32,
            shape: shape.to_vec(),
            strides: strides.to_vec(),
            role: Role::Input,
            indices: vec![],
        }
    }

    #[test]
    fn what_is_written_is_read_back_with_other_strides() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        let dense = operand(&[2, 3], &[3, 1]);
        let bytes: Vec<u8> = (0..6).flat_map(|i| (i as f32 + 0.5).to_ne_bytes()).collect();
        write(&path, &dense, &bytes).unwrap();
        assert_eq!(read(&path, &dense).unwrap(), bytes);
        let strided = read(&path, &operand(&[2, 3], &[5, 1])).unwrap();
        assert_eq!(read_element(DataType::F32, &strided, 5), 3.5);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn fuzzed_arrays_are_refused_or_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        let operand = operand(&[2, 3], &[3, 1]);
        write(&path, &operand, &[7; 24]).unwrap();
        let seed = std::fs::read(&path).unwrap();
        tilewright_fuzz::Fuzz::new(env!("CARGO_MANIFEST_DIR"), "npy").seed(seed).run(|bytes| {
            std::fs::write(&path, bytes).unwrap();
            match read(&path, &operand) {
                Ok(values) => assert_eq!(values.len(), 24),
                Err(error) => assert!(format!("{error:#}").contains("a.npy"), "{error:#}"),
            }
        });
    }

    #[test]
    fn errors_say_what_was_found_and_wanted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        write(&path, &operand(&[2, 3], &[3, 1]), &[0; 24]).unwrap();
        let wrong_shape = read(&path, &operand(&[3, 2], &[2, 1])).unwrap_err().to_string();
        assert!(wrong_shape.contains("wants shape [3, 2], found [2, 3]"), "{wrong_shape}");
        let bytes = std::fs::read(&path).unwrap();
        for cut in [0, 5, 40, bytes.len() - 1] {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            assert!(read(&path, &operand(&[2, 3], &[3, 1])).is_err(), "{cut}");
        }
    }
}
