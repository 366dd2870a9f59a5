//! Every chart of the table, drawn on both surfaces, as the bytes of files.

use std::thread;

use super::canvas::{Canvas, ChartError, SCALE, WIDTH, pixels};
use super::{CHARTS, Chart, Data};
use crate::recording::Recording;
use crate::report::Report;

#[derive(Debug, Clone, PartialEq)]
pub struct ChartFile {
    /// With its ending: `tail.svg`.
    pub name: String,
    pub bytes: Vec<u8>,
}

/// Two files a chart. `recordings` are those the report was made of.
pub fn render_all(report: &Report, recordings: &[Recording]) -> Result<Vec<ChartFile>, ChartError> {
    let data = &Data::new(report, recordings);
    // Each on a thread of its own: rasterizing takes longer than everything else in a report.
    let files: Result<Vec<[ChartFile; 2]>, ChartError> = thread::scope(|scope| {
        let charts = CHARTS.each_ref().map(|chart| scope.spawn(move || render(chart, data)));
        charts.into_iter().map(|chart| chart.join().expect("a chart does not panic")).collect()
    });
    Ok(files?.into_iter().flatten().collect())
}

fn render(chart: &Chart, data: &Data) -> Result<[ChartFile; 2], ChartError> {
    let height = (chart.height)(data);
    let file = |ending: &str, bytes| ChartFile { name: format!("{}.{ending}", chart.name), bytes };
    let svg = svg(chart, data, height)?.into_bytes();
    Ok([file("svg", svg), file("png", png(chart, data, height)?)])
}

fn svg(chart: &Chart, data: &Data, height: f64) -> Result<String, ChartError> {
    let mut document = String::new();
    let mut canvas = Canvas::svg(&mut document, height);
    (chart.draw)(data, &mut canvas);
    canvas.finish()?;
    // Drawn at the scale of the PNG; shown at normal size unless told otherwise.
    let (width, tall) = pixels(height);
    let drawn = format!("width=\"{width}\" height=\"{tall}\"");
    let shown = format!("width=\"{WIDTH}\" height=\"{}\"", f64::from(tall) / SCALE);
    Ok(document.replacen(&drawn, &shown, 1))
}

fn png(chart: &Chart, data: &Data, height: f64) -> Result<Vec<u8>, ChartError> {
    let (width, tall) = pixels(height);
    let mut buffer = vec![255; width as usize * tall as usize * 3];
    let mut canvas = Canvas::png(&mut buffer, height);
    (chart.draw)(data, &mut canvas);
    canvas.finish()?;
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, tall);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::Default);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&buffer)?;
    writer.finish()?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
