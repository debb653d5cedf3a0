//! Networks: those that are ready, hosts, runs.

use std::ffi::{c_char, c_void};
use std::path::Path;

use forebay_host::networks::{NETWORKS, network};
use forebay_host::{HostError, HostId, Network, Time};
use forebay_parameters::did_you_mean;

use crate::abi;
use crate::call::{answer, text};
use crate::report::CReport;
use crate::stack::{clear, member};

/// A network as C holds it.
struct CNetwork {
    /// The network, or the first thing that is wrong.
    network: Result<Network, String>,
    hosts: Vec<HostId>,
    seed: Option<u64>,
}

impl CNetwork {
    fn boxed(make: impl FnOnce() -> Result<Network, String>) -> *mut Self {
        let network = answer(Err("Forebay itself has failed".to_owned()), || Ok(make()));
        Box::into_raw(Box::new(Self { network, hosts: Vec::new(), seed: None }))
    }

    fn host(&self, host: u32) -> Result<HostId, String> {
        self.hosts.get(host as usize).copied().ok_or_else(|| {
            let count = self.hosts.len();
            format!("host {host}: is not one of the {count} of this network, counted from 0")
        })
    }

    /// Change the network by `call`; what is wrong stays with it.
    fn change<R>(
        &mut self,
        function: &str,
        call: impl FnOnce(&mut Self, &mut Network) -> Result<R, String>,
    ) -> Option<R> {
        let mut network = match std::mem::replace(&mut self.network, Err(String::new())) {
            Ok(network) => network,
            Err(first) => {
                self.network = Err(first);
                return None;
            }
        };
        let result =
            answer(Err("Forebay itself has failed".to_owned()), || Ok(call(self, &mut network)));
        match result {
            Ok(result) => {
                self.network = Ok(network);
                Some(result)
            }
            Err(message) => {
                self.network = Err(format!("{function}: {message}"));
                None
            }
        }
    }
}

/// The network at `net` changed by `call`; `None` if it is null, or something is wrong.
///
/// # Safety
/// `net` is null, or a network that was not freed.
unsafe fn change<R>(
    net: *mut CNetwork,
    function: &str,
    call: impl FnOnce(&mut CNetwork, &mut Network) -> Result<R, String>,
) -> Option<R> {
    // SAFETY: by the contract of this function.
    unsafe { net.as_mut() }?.change(function, call)
}

/// Functions of the header that change a network: each is unsafe as [`change`] and [`text`] are.
macro_rules! functions {
    ($($(#[$meta:meta])* fn $name:ident($($argument:ident: $type:ty),*) $(-> $out:ty = $none:path)?
        { |$own:pat_param, $network:pat_param| $body:expr })*) => {
        $(
            $(#[$meta])*
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name(net: *mut CNetwork, $($argument: $type),*) $(-> $out)? {
                // SAFETY: the header asks for networks, texts and tables.
                let result = unsafe {
                    change(net, stringify!($name), |$own, $network| Ok($body))
                };
                functions!(@result result $($none)?)
            }
        )*
    };
    (@result $result:ident) => { $result.unwrap_or_default() };
    (@result $result:ident $none:path) => { $result.unwrap_or($none) };
}

functions! {
    fn forebay_network_set(assignment: *const c_char) {
        |_, network| { network.set(text(assignment, "assignment")?); }
    }

    fn forebay_network_seed(seed: u64) { |own, _| own.seed = Some(seed) }

    fn forebay_network_replication(number: u64) {
        |_, network| { network.replication(number); }
    }

    fn forebay_network_record() { |_, network| { network.record(); } }

    fn forebay_network_capture(link: *const c_char) {
        |_, network| { network.capture(text(link, "link")?); }
    }

    fn forebay_network_reserve(node: *const c_char) -> u32 = u32::MAX {
        |own, network| {
            own.hosts.push(network.reserve(text(node, "node")?));
            (own.hosts.len() - 1) as u32
        }
    }

    fn forebay_network_put(host: u32, calls: *const abi::Endpoint, stack: *mut c_void) {
        |own, network| { network.put(own.host(host)?, member(calls, stack)?); }
    }

    fn forebay_network_attach(
        node: *const c_char, calls: *const abi::Endpoint, stack: *mut c_void
    ) -> u32 = u32::MAX {
        |own, network| {
            own.hosts.push(network.attach_member(text(node, "node")?, member(calls, stack)?));
            (own.hosts.len() - 1) as u32
        }
    }

    fn forebay_network_address(host: u32) -> abi::Address = abi::Address::NONE {
        |own, network| network.address(own.host(host)?).into()
    }

    fn forebay_network_start_at(host: u32, time_ps: u64) {
        |own, network| { network.start_at(own.host(host)?, Time::from_ps(time_ps)); }
    }

    fn forebay_network_connect(one: u32, other: u32) {
        |own, network| { network.connect(own.host(one)?, own.host(other)?); }
    }

    fn forebay_network_move_host(
        host: u32, node: *const c_char, time_ps: u64
    ) -> abi::Address = abi::Address::NONE {
        |own, network| {
            let (host, node) = (own.host(host)?, text(node, "node")?);
            network.move_host(host, node, Time::from_ps(time_ps)).into()
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn forebay_network_ready(name: *const c_char) -> *mut CNetwork {
    CNetwork::boxed(|| {
        // SAFETY: the header asks for a text, here and below.
        let name = unsafe { text(name, "forebay_network_ready: name") }?;
        network(name).map(Network::from_toml).ok_or_else(|| {
            let known = || NETWORKS.iter().map(|(name, _)| *name);
            let hint = did_you_mean(name, known());
            let known = known().collect::<Vec<_>>().join(", ");
            format!("forebay_network_ready: unknown network \"{name}\"{hint}; there are {known}")
        })
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn forebay_network_from_file(path: *const c_char) -> *mut CNetwork {
    CNetwork::boxed(|| {
        // SAFETY: as above.
        let path = unsafe { text(path, "forebay_network_from_file: path") }?;
        Network::from_file(Path::new(path)).map_err(|error| error.to_string())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn forebay_network_from_toml(scenario: *const c_char) -> *mut CNetwork {
    CNetwork::boxed(|| {
        // SAFETY: as above.
        unsafe { text(scenario, "forebay_network_from_toml: text") }.map(Network::from_toml)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn forebay_network_free(net: *mut CNetwork) {
    if !net.is_null() {
        // SAFETY: it is a network, which is freed once.
        drop(unsafe { Box::from_raw(net) });
    }
}

/// The network at `net` and its seed, to be run.
///
/// # Safety
/// As of [`change`].
unsafe fn taken(net: *mut CNetwork) -> Result<(Network, Option<u64>), String> {
    // SAFETY: by the contract of this function.
    let Some(own) = (unsafe { net.as_mut() }) else {
        return Err("forebay_run: net is NULL; allowed is a network".to_owned());
    };
    let used = "forebay_run: this network was run before; it runs once, so make another";
    let network = std::mem::replace(&mut own.network, Err(used.to_owned()));
    match network {
        Ok(network) => Ok((network, own.seed)),
        Err(message) => {
            own.network = Err(message.clone());
            Err(message)
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn forebay_run(net: *mut CNetwork) -> *mut CReport {
    answer(std::ptr::null_mut(), || {
        // SAFETY: the header asks for a network.
        let (network, seed) = unsafe { taken(net) }?;
        clear();
        network.run(seed).map(CReport::boxed).map_err(|error| error.to_string())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn forebay_run_twice(
    make: Option<unsafe extern "C" fn(*mut c_void) -> *mut CNetwork>,
    argument: *mut c_void,
) -> *mut CReport {
    answer(std::ptr::null_mut(), || {
        let make = make.ok_or("forebay_run_twice: make is NULL; allowed is a function")?;
        let next = || {
            // SAFETY: as the header says it; what it makes is a network, which is freed here.
            unsafe {
                let net = make(argument);
                let network = taken(net);
                forebay_network_free(net);
                network
            }
        };
        let (first, seed) = next()?;
        let mut first = Some(first);
        clear();
        let report = Network::run_twice(seed, || match first.take() {
            Some(first) => Ok(first),
            None => next().map(|(second, _)| second).map_err(HostError::Wrong),
        });
        report.map(CReport::boxed).map_err(|error| error.to_string())
    })
}
