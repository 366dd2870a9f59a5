//! Two hosts joined by a path of 10 Mbit/s, with a datagram across it; for root, or any user who
//! may have user namespaces:
//!
//! ```text
//! cargo run --release -p netns --example two_hosts
//! ```
//!
//! Nothing has to be cleaned up afterwards, not even after `kill -9`.

use std::error::Error;
use std::net::UdpSocket;
use std::time::Duration;

use netns::{Address, Availability, End, MacAddress, Namespace, Topology, tbf};

const VEHICLE: MacAddress = MacAddress::local(1);
const CLOUD: MacAddress = MacAddress::local(2);

fn main() -> Result<(), Box<dyn Error>> {
    if !netns::probe().root.is_available() {
        netns::become_root_in_user_namespace()?;
    }
    tell_what_works();
    let (vehicle, cloud) = build()?;
    let rate = tbf::Options { rate: 1_250_000, burst: 20_000, limit: 100_000, peak: None };
    vehicle.set_root_qdisc("4g", &rate.encode())?;
    send_a_datagram(&vehicle, &cloud)?;
    let addresses = vehicle.command("ip").args(["-brief", "address"]).output()?;
    print!("{}", String::from_utf8_lossy(&addresses.stdout));
    Ok(())
}

fn tell_what_works() {
    let capabilities = netns::probe();
    println!("kernel {}", capabilities.kernel);
    for (name, availability) in capabilities.all() {
        match availability {
            Availability::Available => println!("  {name}: yes"),
            Availability::Missing { reason, remedy } => {
                println!("  {name}: {reason}\n    {remedy}")
            }
        }
    }
}

fn build() -> Result<(Namespace, Namespace), Box<dyn Error>> {
    let (vehicle, cloud) = (Namespace::new("vehicle")?, Namespace::new("cloud")?);
    let (at_vehicle, at_cloud): (Address, Address) =
        ("10.0.1.1/24".parse()?, "10.0.1.2/24".parse()?);
    let mut topology = Topology::new();
    topology.veth(
        End::new(&vehicle, "4g", VEHICLE).address(at_vehicle).neighbour(at_cloud.ip(), CLOUD),
        End::new(&cloud, "4g", CLOUD).address(at_cloud).neighbour(at_vehicle.ip(), VEHICLE),
    );
    topology.build()?;
    Ok((vehicle, cloud))
}

/// A socket belongs to the namespace that it was opened in, whichever thread uses it.
fn send_a_datagram(vehicle: &Namespace, cloud: &Namespace) -> Result<(), Box<dyn Error>> {
    let at_vehicle = vehicle.run(|| UdpSocket::bind("10.0.1.1:7000"))??;
    let at_cloud = cloud.run(|| UdpSocket::bind("10.0.1.2:7000"))??;
    at_cloud.set_read_timeout(Some(Duration::from_secs(5)))?;
    at_vehicle.send_to(b"hello", "10.0.1.2:7000")?;
    let mut buffer = [0; 16];
    let (length, from) = at_cloud.recv_from(&mut buffer)?;
    println!("{} came from {from}", String::from_utf8_lossy(&buffer[..length]));
    Ok(())
}
