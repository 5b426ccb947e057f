//! Seals a store, flips one bit of it, and shows that it is refused, and what an export still tells.
#![expect(clippy::print_stdout, reason = "an example shows its result")]
#![expect(clippy::unwrap_used, reason = "an example that cannot go on stops")]

use lighterman_engine::{HostState, ImageState, Record, RecordKey};
use lighterman_ids::{ImageRef, InstanceId, Moment};
use lighterman_records::{Ledger, export};

fn main() {
    let image = ImageRef::parse("web:1").unwrap();
    let host = HostState { instance: InstanceId::from_bits(1), incarnation: 1 };
    let pulled = ImageState { image: image.clone(), pull_succeeded: true, pulled_at: Moment::default() };
    let prepared = Ledger::new()
        .prepare([(RecordKey::Host, Some(Record::Host(host))), (RecordKey::Image(image), Some(Record::Image(pulled)))]);

    // What a store holds once these writes are durable.
    let mut entries: Vec<(Vec<u8>, Vec<u8>)> =
        prepared.writes.into_iter().filter_map(|(key, value)| Some((key, value?))).collect();
    for (key, value) in &entries {
        println!("{:12} {:4} bytes", String::from_utf8_lossy(key), value.len());
    }
    let (ledger, _) = Ledger::open(entries.clone(), Some(1)).unwrap();
    println!("opened: commit {}, {} records", ledger.generation(), ledger.len());

    let host = entries.iter().position(|(key, _)| key == b"host").unwrap();
    entries[host].1[60] ^= 0b100;
    println!("after one flipped bit: {}", Ledger::open(entries.clone(), Some(1)).unwrap_err());
    for record in export(entries) {
        match record.content {
            Ok((kind, generation, text)) => {
                println!("{}: {} of commit {generation}: {text}", record.key, kind.as_str())
            }
            Err(error) => println!("{}: {error}", record.key),
        }
    }
}
