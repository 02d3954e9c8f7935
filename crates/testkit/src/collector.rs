//! A collector of OpenTelemetry on loopback. It reads what it is told with the messages that OpenTelemetry publishes, and
//! can be slow, refuse, or answer with garbage.

use std::collections::VecDeque;
use std::io::{self, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::{HistogramDataPoint, Metric};
pub use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;

use crate::model_server::http;

/// What it does with a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Takes it.
    Take,
    /// Takes it, and nobody hears of that.
    TakeAndHangUp,
    /// Answers with this status.
    Status(u16),
    /// Says something that is no HTTP.
    Garbage,
    /// Says nothing, for ever.
    Silence,
}

/// The collector. Ends when it is dropped.
#[derive(Debug)]
pub struct Collector {
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    book: Mutex<Book>,
    changed: Condvar,
    ended: AtomicBool,
}

#[derive(Debug, Default)]
struct Book {
    /// For the requests to come; after that, everything is taken.
    replies: VecDeque<Reply>,
    spans: Vec<Span>,
    metrics: Vec<Metric>,
    /// All that came, head and body.
    heard: Vec<Vec<u8>>,
    requests: usize,
}

impl Collector {
    /// Takes everything after it has done these.
    pub fn start(replies: impl IntoIterator<Item = Reply>) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        shared.book().replies.extend(replies);
        let served = shared.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if served.ended.load(Ordering::Relaxed) {
                    return;
                }
                let served = served.clone();
                // A client that goes away in the middle is no matter of ours.
                thread::spawn(move || served.talk(&stream));
            }
        });
        Ok(Self { address, shared })
    }

    /// What `OTEL_EXPORTER_OTLP_ENDPOINT` is set to.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The spans that were taken, as often as they were told.
    pub fn spans(&self) -> Vec<Span> {
        self.shared.book().spans.clone()
    }

    /// The newest sums under a name: what each is about, how many there were, and what they come to.
    pub fn sums(&self, name: &str) -> Vec<(String, u64, f64)> {
        self.shared.book().sums(name)
    }

    /// All that came, head and body, whatever was done with it.
    pub fn heard(&self) -> Vec<Vec<u8>> {
        self.shared.book().heard.clone()
    }

    /// Waits until what was taken is as wanted; what it is then.
    pub fn wait(&self, wanted: impl Fn(&[Span]) -> bool) -> Vec<Span> {
        self.wait_for(|book| wanted(&book.spans)).spans.clone()
    }

    /// Waits until so many requests came, whatever was done with them.
    pub fn wait_for_requests(&self, number: usize) {
        drop(self.wait_for(|book| book.requests >= number));
    }

    /// Waits until sums under a name are of so many. They come after the spans that they are of.
    pub fn wait_for_sums(&self, name: &str, of: u64) {
        drop(self.wait_for(|book| book.sums(name).iter().map(|(_, count, _)| count).sum::<u64>() >= of));
    }

    fn wait_for(&self, wanted: impl Fn(&Book) -> bool) -> MutexGuard<'_, Book> {
        let deadline = Instant::now() + Duration::from_mins(1);
        let mut book = self.shared.book();
        while !wanted(&book) {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "the collector was not told what was waited for: {book:?}");
            book = self.shared.changed.wait_timeout(book, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        book
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Relaxed);
        // Wakes the listener, so that it sees that it has ended.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn talk(&self, stream: &TcpStream) {
        let Ok(Some(request)) = http::read(&mut BufReader::new(stream)) else { return };
        let mut heard = format!("{} {:?}\n", request.path, request.headers).into_bytes();
        heard.extend(&request.body);
        let (reply, taken) = {
            let mut book = self.book();
            book.heard.push(heard);
            book.requests += 1;
            let reply = book.replies.pop_front().unwrap_or(Reply::Take);
            let taken = match reply {
                Reply::Take | Reply::TakeAndHangUp => book.take(&request),
                Reply::Status(_) | Reply::Garbage | Reply::Silence => Ok(()),
            };
            (reply, taken)
        };
        self.changed.notify_all();
        let mut stream = stream;
        // A client that goes away in the middle is no matter of ours.
        let _ = match (reply, taken) {
            (Reply::Take, Ok(())) => stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"),
            (Reply::Take, Err(problem)) => {
                let length = problem.len();
                write!(stream, "HTTP/1.1 400 Bad Request\r\ncontent-length: {length}\r\n\r\n{problem}")
            }
            (Reply::TakeAndHangUp, _) => Ok(()),
            (Reply::Status(status), _) => write!(stream, "HTTP/1.1 {status} No\r\ncontent-length: 0\r\n\r\n"),
            (Reply::Garbage, _) => stream.write_all(b"\x16\x03\x01 what is this\n\n"),
            (Reply::Silence, _) => self.keep_open(stream),
        };
    }

    /// Until whoever waits goes away.
    fn keep_open(&self, mut stream: &TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(Duration::from_millis(50)))?;
        let mut byte = [0];
        while !self.ended.load(Ordering::Relaxed) {
            match io::Read::read(&mut stream, &mut byte) {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Book {
    fn sums(&self, name: &str) -> Vec<(String, u64, f64)> {
        let newest = self.metrics.iter().rev().find(|metric| metric.name == name);
        let Some(Data::Histogram(histogram)) = newest.and_then(|metric| metric.data.as_ref()) else {
            return Vec::new();
        };
        let sum = |point: &HistogramDataPoint| {
            let kind = point.attributes.iter().find(|pair| pair.key == "gen_ai.token.type");
            let kind = kind.and_then(|pair| match pair.value.as_ref()?.value.as_ref()? {
                Value::StringValue(text) => Some(text.clone()),
                _ => None,
            });
            (kind.unwrap_or_default(), point.count, point.sum.unwrap_or_default())
        };
        histogram.data_points.iter().map(sum).collect()
    }

    fn take(&mut self, request: &http::Request) -> Result<(), String> {
        let is =
            |name: &str, value: &str| request.headers.iter().any(|(known, is)| known == name && is == value);
        if request.method != "POST" || !is("content-type", "application/x-protobuf") {
            return Err("not a request of the protocol".to_owned());
        }
        match request.path.as_str() {
            "/v1/traces" => {
                let read = ExportTraceServiceRequest::decode(request.body.as_slice());
                let told = read.map_err(|error| error.to_string())?.resource_spans;
                let scopes = told.into_iter().flat_map(|resource| resource.scope_spans);
                self.spans.extend(scopes.flat_map(|scope| scope.spans));
            }
            "/v1/metrics" => {
                let read = ExportMetricsServiceRequest::decode(request.body.as_slice());
                let told = read.map_err(|error| error.to_string())?.resource_metrics;
                let scopes = told.into_iter().flat_map(|resource| resource.scope_metrics);
                self.metrics.extend(scopes.flat_map(|scope| scope.metrics));
            }
            other => return Err(format!("there is nothing at {other}")),
        }
        Ok(())
    }
}
