//! The description of the control API in the words of `OpenAPI`, made from the same table as its routes.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::operations::{self, Gives, Operation, Verb, of};
use crate::rows::ErrorRow;

/// The whole description.
pub fn description() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    let mut paths: Map<String, Value> = Map::new();
    for operation in operations::all() {
        let entry = paths.entry(operation.path).or_insert_with(|| json!({}));
        let verb = match operation.verb {
            Verb::Get => "get",
            Verb::Post => "post",
        };
        entry[verb] = describe(operation, &mut generator);
    }
    let schemas = generator.take_definitions(true);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Longhaul control API",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "On the Unix socket `control.sock`, for the user alone, and on the port of the daemon with the token that is in `control.token`. What changes something is a person's to do: agents may look.",
        },
        "servers": [{"url": "http://localhost"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    })
}

fn describe(operation: &Operation, generator: &mut schemars::SchemaGenerator) -> Value {
    let json_of = |schema: Value| json!({"application/json": {"schema": schema}});
    let content = match operation.gives {
        Gives::One(schema) => json_of(json!(schema(generator))),
        Gives::List(schema) => json_of(json!({"type": "array", "items": schema(generator)})),
        Gives::Metrics => json!({"text/plain": {"schema": {"type": "string"}}}),
        Gives::Description => json_of(json!({"type": "object"})),
    };
    let error = json_of(json!(of::<ErrorRow>(generator)));
    let mut described = json!({
        "operationId": operation.id,
        "summary": operation.about,
        "parameters": parameters(operation),
        "responses": {
            "200": {"description": "Done", "content": content},
            "default": {"description": "What went wrong", "content": error},
        },
    });
    if let Some(takes) = operation.takes {
        let schema = json!(takes(generator));
        described["requestBody"] = json!({"required": true, "content": json_of(schema)});
    }
    described
}

fn parameters(operation: &Operation) -> Vec<Value> {
    let parts = operation.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let parts =
        parts.map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}));
    let query = operation.query.iter().map(|parameter| {
        let schema = json!({"type": "boolean", "default": false});
        json!({"name": parameter.name, "in": "query", "description": parameter.about, "schema": schema})
    });
    parts.chain(query).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_operation_is_described_once_and_every_name_leads_somewhere() {
        let description = description();
        let mut ids = BTreeSet::new();
        for operation in operations::all() {
            assert!(ids.insert(operation.id), "{} stands there twice", operation.id);
        }
        let text = description.to_string();
        for reference in text.split("\"$ref\":\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(description.pointer(reference).is_some(), "{reference} leads nowhere");
        }
        assert_eq!(
            description["paths"]
                .as_object()
                .unwrap()
                .values()
                .map(|path| path.as_object().unwrap().len())
                .sum::<usize>(),
            ids.len()
        );
    }
}
