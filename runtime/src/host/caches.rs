//! Caches, as the processor describes them, or as the system does where the processor will not.

use std::fs;
use std::path::Path;

use raw_cpuid::{CacheType, CpuId, CpuIdReaderNative};
use serde::{Deserialize, Serialize};

use crate::affinity::online_processors;

/// What a cache holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CacheKind {
    /// Data only.
    Data,
    /// Instructions only.
    Instruction,
    /// Both.
    Unified,
}

/// One cache.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CacheFacts {
    /// 1 next to the core.
    pub level: u8,
    /// What it holds.
    pub kind: CacheKind,
    /// Capacity, bytes.
    pub bytes: usize,
    /// Lines of a set; 0 when any line may lie anywhere.
    pub ways: usize,
    /// Bytes of a line.
    pub line_bytes: usize,
    /// Logical processors, among those online, that share it at most.
    pub shared_by: usize,
}

/// From CPUID (leaf 4, or 8000001Dh); empty when the processor or a hypervisor keeps it to itself.
///
/// CPUID numbers more processors than exist, so the sharing is cut to those that are online.
pub(crate) fn from_cpuid(cpu: &CpuId<CpuIdReaderNative>) -> Vec<CacheFacts> {
    let usable = online_processors().len();
    let described = cpu.get_cache_parameters().into_iter().flatten();
    let mut caches: Vec<CacheFacts> = described
        .filter_map(|cache| {
            let kind = match cache.cache_type() {
                CacheType::Data => CacheKind::Data,
                CacheType::Instruction => CacheKind::Instruction,
                CacheType::Unified => CacheKind::Unified,
                CacheType::Null | CacheType::Reserved => return None,
            };
            let line_bytes = cache.coherency_line_size();
            let lines = cache.associativity() * cache.physical_line_partitions() * cache.sets();
            Some(CacheFacts {
                level: cache.level(),
                kind,
                bytes: lines * line_bytes,
                ways: if cache.is_fully_associative() { 0 } else { cache.associativity() },
                line_bytes,
                shared_by: cache.max_cores_for_cache().clamp(1, usable),
            })
        })
        .filter(|cache| cache.bytes > 0 && cache.level > 0)
        .collect();
    caches.sort_unstable();
    caches
}

/// From the system's description of one processor; empty where there is none.
pub(crate) fn from_sys(processor: usize) -> Vec<CacheFacts> {
    let folder = format!("/sys/devices/system/cpu/cpu{processor}/cache");
    from_folder(Path::new(&folder), &online_processors())
}

fn from_folder(folder: &Path, usable: &[usize]) -> Vec<CacheFacts> {
    let indices = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut caches: Vec<CacheFacts> = indices.filter_map(|index| one(&index.path(), usable)).collect();
    caches.sort_unstable();
    caches
}

fn one(folder: &Path, usable: &[usize]) -> Option<CacheFacts> {
    let text = |name: &str| fs::read_to_string(folder.join(name)).ok().map(|text| text.trim().to_owned());
    let number = |name: &str| text(name).and_then(|text| text.parse().ok());
    let kind = match text("type")?.as_str() {
        "Data" => CacheKind::Data,
        "Instruction" => CacheKind::Instruction,
        "Unified" => CacheKind::Unified,
        _ => return None,
    };
    let shared = text("shared_cpu_list")
        .map_or(1, |list| usable.iter().filter(|&&processor| listed(&list, processor)).count());
    Some(CacheFacts {
        level: u8::try_from(number("level")?).ok()?,
        kind,
        bytes: bytes(&text("size")?)?,
        ways: number("ways_of_associativity").unwrap_or(0),
        line_bytes: number("coherency_line_size").unwrap_or(64),
        shared_by: shared.max(1),
    })
}

/// `32K` or `8M` as bytes.
fn bytes(size: &str) -> Option<usize> {
    let (digits, unit) = size.split_at(size.find(|c: char| !c.is_ascii_digit()).unwrap_or(size.len()));
    let scale = match unit {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    digits.parse::<usize>().ok()?.checked_mul(scale)
}

/// Whether a list such as `0-3,8` names the processor.
fn listed(list: &str, processor: usize) -> bool {
    list.split(',').any(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let bounds = first.trim().parse::<usize>().ok().zip(last.trim().parse::<usize>().ok());
        bounds.is_some_and(|(first, last)| (first..=last).contains(&processor))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_sizes_and_lists() {
        assert_eq!(bytes("32K"), Some(32768));
        assert_eq!(bytes("8M"), Some(8 << 20));
        assert_eq!(bytes("512"), Some(512));
        assert_eq!(bytes("8X"), None);
        assert!(listed("0-3,8", 2) && listed("0-3,8", 8) && !listed("0-3,8", 4) && !listed("", 0));
    }

    #[test]
    fn reads_the_system_s_description() {
        let folder = tempfile::tempdir().unwrap();
        for (index, level, kind, size, shared) in [
            ("index0", "1", "Data", "32K", "0"),
            ("index3", "3", "Unified", "32768K", "0-7"),
            ("index1", "1", "Instruction", "32K", "0"),
        ] {
            let path = folder.path().join(index);
            fs::create_dir(&path).unwrap();
            for (name, value) in
                [("level", level), ("type", kind), ("size", size), ("shared_cpu_list", shared)]
            {
                fs::write(path.join(name), format!("{value}\n")).unwrap();
            }
            fs::write(path.join("ways_of_associativity"), "8\n").unwrap();
        }
        fs::write(folder.path().join("uevent"), "").unwrap();
        let caches = from_folder(folder.path(), &[0, 1, 9]);
        let first = CacheFacts {
            level: 1,
            kind: CacheKind::Data,
            bytes: 32768,
            ways: 8,
            line_bytes: 64,
            shared_by: 1,
        };
        assert_eq!(caches.len(), 3);
        assert_eq!(caches[0], first);
        assert_eq!((caches[2].bytes, caches[2].shared_by), (32 << 20, 2));
        assert!(from_folder(&folder.path().join("none"), &[0]).is_empty());
    }

    #[test]
    fn processor_and_system_agree_on_sizes() {
        let (cpuid, sys) = (from_cpuid(&CpuId::new()), from_sys(online_processors()[0]));
        if cpuid.is_empty() || sys.is_empty() {
            return; // One of them keeps it to itself here; nothing to compare.
        }
        let sizes = |caches: &[CacheFacts]| {
            caches.iter().map(|cache| (cache.level, cache.kind, cache.bytes)).collect::<Vec<_>>()
        };
        assert_eq!(sizes(&cpuid), sizes(&sys));
    }
}
