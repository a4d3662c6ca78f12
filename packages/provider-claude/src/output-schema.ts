import type { Json, JsonObject } from '@cobbler/agent';

/**
 * String formats and schema keywords that structured outputs support. Source: `transformJSONSchema` of
 * @anthropic-ai/sdk 1.11.0.
 */
const formats: ReadonlySet<Json> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
]);
const plain: ReadonlySet<string> = new Set(['type', 'enum', 'const', 'description', 'title', 'required']);

/**
 * Converts a schema to the form that the service accepts: objects are closed, and unsupported constraints move to the
 * description for the model. The caller validates them in the response.
 */
export function outputSchema(schema: JsonObject): JsonObject {
  const strict: JsonObject = {};
  const untold: string[] = [];
  for (const [key, value] of Object.entries(schema)) {
    const kept = keep(key, value);
    if (kept !== undefined) strict[key === 'oneOf' ? 'anyOf' : key] = kept;
    else if (key !== '$schema' && key !== 'additionalProperties')
      untold.push(`${key}: ${JSON.stringify(value)}`);
  }
  if (schema['type'] === 'object') strict['additionalProperties'] = false;
  if (untold.length > 0) {
    const own = typeof strict['description'] === 'string' ? [strict['description']] : [];
    strict['description'] = [...own, `{${untold.join(', ')}}`].join('\n\n');
  }
  return strict;
}

/** Returns the value to send for a keyword, or undefined if the service does not accept it. */
function keep(key: string, value: Json): Json | undefined {
  if (plain.has(key) || key === '$ref') return value;
  if (key === 'items') return inner(value);
  if (key === 'properties' || key === '$defs') return mapSchemas(value);
  if (key === 'anyOf' || key === 'oneOf' || key === 'allOf')
    return Array.isArray(value) ? value.map(inner) : undefined;
  if (key === 'minItems') return value === 0 || value === 1 ? value : undefined;
  if (key === 'format') return formats.has(value) ? value : undefined;
  return undefined;
}

function inner(value: Json): Json {
  return isJsonObject(value) ? outputSchema(value) : value;
}

function mapSchemas(value: Json): Json {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, inner(schema)]));
}

function isJsonObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
