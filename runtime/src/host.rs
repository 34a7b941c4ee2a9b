//! What this machine is: the facts that a record carries, and the fingerprint that it is found by.

mod caches;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use raw_cpuid::{CpuId, CpuIdReaderNative};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tilewright_registry::Conditions;

pub use caches::{CacheFacts, CacheKind};

use crate::affinity::{online_processors, physical_cores};
use crate::mapping::page_size;

/// Facts about processor, memory and system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostFacts {
    /// Name as the processor gives it.
    pub brand: String,
    /// Vendor as the processor gives it, such as `AuthenticAMD`.
    pub vendor: String,
    /// Family, extended part included.
    pub family: u32,
    /// Model, extended part included.
    pub model: u32,
    /// Stepping.
    pub stepping: u32,
    /// Physical cores among the processors that this process may use.
    pub physical_cores: usize,
    /// Logical processors that this process may use.
    pub logical_processors: usize,
    /// Instruction set extensions that processor and system support, in a fixed order.
    pub features: Vec<String>,
    /// Caches, nearest first.
    pub caches: Vec<CacheFacts>,
    /// Bytes of a page.
    pub page_bytes: usize,
    /// Bytes of main memory.
    pub memory_bytes: u64,
    /// Name of the system.
    pub os: String,
    /// Release of its kernel.
    pub kernel: String,
    /// Whether a hypervisor says that it is there.
    pub virtualised: bool,
    /// Version of the processor's microcode as the system gives it, several joined by `+`; `None` where it does not.
    #[serde(default)]
    pub microcode: Option<String>,
}

impl HostFacts {
    /// Asks processor and system.
    pub fn detect() -> Self {
        let cpu = CpuId::new();
        let vendor = cpu.get_vendor_info().map(|vendor| vendor.as_str().to_owned()).unwrap_or_default();
        let brand = cpu.get_processor_brand_string().map(|brand| brand.as_str().trim().to_owned());
        let identity = cpu.get_feature_info();
        let number =
            |get: fn(&raw_cpuid::FeatureInfo) -> u8| identity.as_ref().map_or(0, |info| u32::from(get(info)));
        let from_cpuid = caches::from_cpuid(&cpu);
        let system = rustix::system::uname();
        let memory = rustix::system::sysinfo();
        // Not those of this process alone: a process confined to one core is on the same machine.
        let online = online_processors();
        let processors = online.as_slice();
        Self {
            brand: brand.unwrap_or_default(),
            vendor,
            family: number(raw_cpuid::FeatureInfo::family_id),
            model: number(raw_cpuid::FeatureInfo::model_id),
            stepping: number(raw_cpuid::FeatureInfo::stepping_id),
            physical_cores: physical_cores(processors),
            logical_processors: processors.len(),
            features: features(&cpu),
            caches: if from_cpuid.is_empty() { caches::from_sys(processors[0]) } else { from_cpuid },
            page_bytes: page_size(),
            memory_bytes: memory.totalram as u64 * u64::from(memory.mem_unit),
            os: os_name().unwrap_or_else(|| system.sysname().to_string_lossy().into_owned()),
            kernel: system.release().to_string_lossy().into_owned(),
            virtualised: identity.as_ref().is_some_and(raw_cpuid::FeatureInfo::has_hypervisor),
            microcode: fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| microcode(&text)),
        }
    }

    /// Whether an extension of this name is there.
    pub fn has(&self, feature: &str) -> bool {
        self.features.iter().any(|known| known == feature)
    }

    /// The caches that hold data, nearest first.
    pub fn data_caches(&self) -> impl Iterator<Item = &CacheFacts> {
        self.caches.iter().filter(|cache| cache.kind != CacheKind::Instruction)
    }

    /// Bytes of the last level of cache, 0 when unknown.
    pub fn last_level_bytes(&self) -> usize {
        self.data_caches().last().map_or(0, |cache| cache.bytes)
    }

    /// Versions that a kept kernel was verified with, and must be verified again when they change: this tool, whose
    /// code generator is the kernels' compiler, and the microcode.
    pub fn conditions(&self) -> Conditions {
        let mut versions = BTreeMap::from([("tool".to_owned(), env!("CARGO_PKG_VERSION").to_owned())]);
        versions.extend(self.microcode.clone().map(|version| ("microcode".to_owned(), version)));
        Conditions(versions)
    }

    /// Names the machine as far as the speed of generated code depends on it: equal for machines on which
    /// a kernel may be expected to run alike, whatever their system release, memory or brand string.
    ///
    /// It reads as vendor, family, model, stepping, cores, and a hash of these with extensions,
    /// caches and page size: `amd-25-33-0-2c-51ec21561278`.
    pub fn fingerprint(&self) -> String {
        let vendor = match self.vendor.as_str() {
            "AuthenticAMD" => "amd",
            "GenuineIntel" => "intel",
            other => other,
        };
        let Self { family, model, stepping, physical_cores, logical_processors, page_bytes, .. } = self;
        let readable = format!("{vendor}-{family}-{model}-{stepping}-{physical_cores}c").to_ascii_lowercase();
        let mut all = format!("1 {readable} {logical_processors} {page_bytes} {}", self.features.join(","));
        for CacheFacts { level, kind, bytes, ways, line_bytes, shared_by } in &self.caches {
            // Writing to a string cannot fail.
            let _ = write!(all, " L{level}{kind:?}:{bytes}/{ways}/{line_bytes}/{shared_by}");
        }
        let digest = Sha256::digest(all.as_bytes());
        let hash = digest.iter().take(6).fold(0_u64, |hash, &byte| hash << 8 | u64::from(byte));
        format!("{readable}-{hash:012x}")
    }
}

/// The extensions that matter to generated code, by the names of `/proc/cpuinfo`'s Rust counterparts.
fn features(cpu: &CpuId<CpuIdReaderNative>) -> Vec<String> {
    macro_rules! detected {
        ($($name:tt),* $(,)?) => { [$(($name, is_x86_feature_detected!($name))),*] };
    }
    // The standard library also asks whether the system saves the registers.
    let known = detected![
        "sse",
        "sse2",
        "sse3",
        "ssse3",
        "sse4.1",
        "sse4.2",
        "popcnt",
        "bmi1",
        "bmi2",
        "avx",
        "avx2",
        "fma",
        "f16c",
        "avx512f",
        "avx512cd",
        "avx512bw",
        "avx512dq",
        "avx512vl",
        "avx512ifma",
        "avx512vbmi",
        "avx512vbmi2",
        "avx512vnni",
        "avx512bitalg",
        "avx512vpopcntdq",
        "avx512bf16",
        "avx512fp16",
        "avxvnni",
        "gfni",
        "vpclmulqdq",
    ];
    // Presence only: a process must also ask the system for the tiles.
    let more = cpu.get_extended_feature_info();
    let matrix = more
        .as_ref()
        .map_or([false; 3], |more| [more.has_amx_tile(), more.has_amx_int8(), more.has_amx_bf16()]);
    let matrix = ["amx-tile", "amx-int8", "amx-bf16"].into_iter().zip(matrix);
    known.into_iter().chain(matrix).filter(|&(_, there)| there).map(|(name, _)| name.to_owned()).collect()
}

/// The different microcode versions in the text of `/proc/cpuinfo`, in order.
fn microcode(text: &str) -> Option<String> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("microcode")?.split_once(':'));
    let versions: BTreeSet<&str> = lines.map(|(_, version)| version.trim()).collect();
    (!versions.is_empty()).then(|| versions.into_iter().collect::<Vec<_>>().join("+"))
}

/// Name and version of the distribution.
fn os_name() -> Option<String> {
    let release = fs::read_to_string("/etc/os-release").ok()?;
    let name = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(name.trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detects_a_processor() {
        let host = HostFacts::detect();
        assert!(!host.vendor.is_empty() && host.family > 0);
        assert!(host.has("sse2"));
        assert!(!host.has("avx512") && !host.has(""));
        assert!(host.page_bytes.is_power_of_two() && host.memory_bytes > 0);
        assert!((1..=host.logical_processors).contains(&host.physical_cores));
        assert_eq!(host, HostFacts::detect());
    }

    /// An update of the microcode is another condition on the same machine.
    // U086
    #[test]
    fn conditions_name_tool_and_microcode() {
        let text = "processor\t: 0\nmicrocode\t: 0xa20120e\nprocessor\t: 1\nmicrocode\t: 0xa20120e\n";
        assert_eq!(microcode(text).as_deref(), Some("0xa20120e"));
        assert_eq!(
            microcode(&format!("{text}microcode : 0xa20120f\n")).as_deref(),
            Some("0xa20120e+0xa20120f")
        );
        assert_eq!(microcode("processor : 0\n"), None);
        let with = |version: Option<&str>| HostFacts {
            microcode: version.map(str::to_owned),
            ..HostFacts::detect()
        };
        let (old, new) = (with(Some("0x1")), with(Some("0x2")));
        assert_eq!(old.fingerprint(), new.fingerprint());
        assert_eq!(old.conditions().changes(&new.conditions()), ["microcode was 0x1 and is 0x2"]);
        assert_eq!(with(None).conditions().changes(&old.conditions()).len(), 1);
    }

    #[test]
    fn survives_serialisation() {
        let host = HostFacts::detect();
        let text = serde_json::to_string(&host).unwrap();
        assert_eq!(serde_json::from_str::<HostFacts>(&text).unwrap(), host);
    }

    // U081, U088, U103
    #[test]
    fn the_fingerprint_depends_on_what_matters_only() {
        let cache = CacheFacts {
            level: 1,
            kind: CacheKind::Data,
            bytes: 32768,
            ways: 8,
            line_bytes: 64,
            shared_by: 1,
        };
        let host = HostFacts {
            vendor: "AuthenticAMD".into(),
            family: 25,
            model: 33,
            stepping: 0,
            physical_cores: 2,
            logical_processors: 2,
            features: vec!["avx2".into()],
            caches: vec![cache],
            page_bytes: 4096,
            ..HostFacts::detect()
        };
        let fingerprint = host.fingerprint();
        assert!(fingerprint.starts_with("amd-25-33-0-2c-"), "{fingerprint}");
        // Recorded once: stored records are found by it.
        assert_eq!(fingerprint, "amd-25-33-0-2c-51ec21561278");
        let renamed = HostFacts {
            brand: "x".into(),
            kernel: "y".into(),
            os: "z".into(),
            memory_bytes: 1,
            microcode: Some("0x7".into()),
            ..host.clone()
        };
        assert_eq!(renamed.fingerprint(), fingerprint);
        let mut other = host.clone();
        other.features.push("fma".into());
        assert_ne!(other.fingerprint(), fingerprint);
        let mut other = host.clone();
        other.caches[0].ways = 4;
        assert_ne!(other.fingerprint(), fingerprint);
        assert_ne!(HostFacts { stepping: 1, ..host }.fingerprint(), fingerprint);
    }
}
