use std::io::Write;
use std::sync::Arc;

use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::{ColumnWriter, ColumnWriterImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use super::table::{Column, Table, Values};
use crate::ReportError;

/// Writes a table as a Parquet file of one row group; what does not apply is null.
///
/// # Errors
/// When `out` cannot be written, or a whole number is above 2⁶³ − 1.
pub fn write_parquet(table: &Table, out: impl Write + Send) -> std::result::Result<(), ReportError> {
    write(table, out).map_err(|error| ReportError::Parquet(error.to_string()))
}

fn write(table: &Table, out: impl Write + Send) -> Result<()> {
    let fields = table.columns.iter().map(|column| field(column).map(Arc::new));
    let fields = fields.collect::<Result<Vec<_>>>()?;
    let schema = Type::group_type_builder("tilewright").with_fields(fields).build()?;
    let properties = Arc::new(WriterProperties::builder().build());
    let mut file = SerializedFileWriter::new(out, Arc::new(schema), properties)?;
    let mut rows = file.next_row_group()?;
    let mut columns = table.columns.iter();
    while let (Some(mut writer), Some(column)) = (rows.next_column()?, columns.next()) {
        match (writer.untyped(), &column.values) {
            (ColumnWriter::Int64ColumnWriter(writer), Values::Counts(values)) => {
                let whole = |value: u64| i64::try_from(value).map_err(|error| error.to_string());
                let whole = |value: &Option<u64>| value.map(whole).transpose();
                let values = values.iter().map(whole).collect::<std::result::Result<Vec<_>, _>>();
                let wrong = |error| ParquetError::General(format!("column `{}`: {error}", column.name));
                put::<Int64Type>(writer, &values.map_err(wrong)?)?;
            }
            (ColumnWriter::DoubleColumnWriter(writer), Values::Numbers(values)) => {
                put::<DoubleType>(writer, values)?;
            }
            (ColumnWriter::ByteArrayColumnWriter(writer), Values::Texts(values)) => {
                let bytes = values.iter().map(|value| value.as_deref().map(ByteArray::from));
                put::<ByteArrayType>(writer, &bytes.collect::<Vec<_>>())?;
            }
            _ => return Err(ParquetError::General(format!("column `{}` changed its type", column.name))),
        }
        writer.close()?;
    }
    rows.close()?;
    file.close().map(|_| ())
}

fn field(column: &Column) -> Result<Type> {
    let (physical, logical) = match column.values {
        Values::Counts(_) => (Physical::INT64, None),
        Values::Numbers(_) => (Physical::DOUBLE, None),
        Values::Texts(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    let converted = if logical.is_some() { ConvertedType::UTF8 } else { ConvertedType::NONE };
    Type::primitive_type_builder(&column.name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .with_converted_type(converted)
        .build()
}

/// Writes the values that there are, and for each row whether there is one.
fn put<T: DataType>(writer: &mut ColumnWriterImpl<'_, T>, values: &[Option<T::T>]) -> Result<()> {
    let present: Vec<T::T> = values.iter().flatten().cloned().collect();
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    writer.write_batch(&present, Some(&levels), None).map(|_| ())
}
