import { eventJsonSchema } from '@cobbler/agent/format';
import { z } from 'zod';
import type { ResponseText, Route } from '../http/route.ts';
import { idPattern } from '../http/route.ts';
import { cookieName, pageHeader } from '../requests/cookie.ts';
import { problemSchema } from './schemas.ts';

type OpenApiNode = Record<string, unknown>;

/** Responses that every operation can return. */
const always: Readonly<Record<number, string>> = {
  400: 'The request is invalid.',
  403: 'The Host or Origin header is not allowed, or the token lacks the required scope.',
  500: 'Internal error.',
};

/** Returns the OpenAPI 3.1 description of the API, generated from the routes. */
export function openApi(routes: readonly Route[], version: string): OpenApiNode {
  const components = new Components();
  const paths: Record<string, OpenApiNode> = {};
  for (const route of routes) {
    const path = paths[route.path] ?? {};
    paths[route.path] = path;
    path[route.method.toLowerCase()] = operation(route, components);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Cobbler',
      version,
      description:
        'Sessions of an agent. The event log of a session is its state. Errors are returned as RFC 9457 problem details.',
    },
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
        cookie: { type: 'apiKey', in: 'cookie', name: cookieName },
        page: { type: 'apiKey', in: 'header', name: pageHeader },
      },
      schemas: components.with('Event', eventJsonSchema()),
    },
  };
}

/** Named schemas, each included once. */
class Components {
  readonly schemas: Record<string, OpenApiNode> = {};

  /** Returns a reference to a named schema, or the schema itself. */
  use(schema: z.ZodType, io: 'input' | 'output' = 'output'): OpenApiNode {
    const json = this.#hoist(z.toJSONSchema(schema, { io }) as OpenApiNode);
    const name = schema.meta()?.id;
    if (name === undefined) return json;
    this.schemas[name] = { ...json, id: undefined };
    return { $ref: `#/components/schemas/${name}` };
  }

  /** Returns all schemas and an additional one. */
  with(name: string, schema: OpenApiNode): Record<string, OpenApiNode> {
    this.schemas[name] = this.#hoist(schema);
    return this.schemas;
  }

  /** Returns the schema without its definitions, which become separate components. */
  #hoist({ $schema: _, $defs: definitions = {}, ...json }: OpenApiNode): OpenApiNode {
    for (const [name, definition] of Object.entries(definitions as Record<string, OpenApiNode>)) {
      this.schemas[name] = moveRefs({ ...definition, id: undefined });
    }
    return moveRefs(json);
  }
}

/** Rewrites references to the location of schemas in OpenAPI. */
function moveRefs(schema: OpenApiNode): OpenApiNode {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'));
}

function operation(route: Route, components: Components): OpenApiNode {
  const answers = Object.entries(route.answers).map(([status, answer]) => [
    status,
    answerOf(Number(status), answer, components),
  ]);
  const problems = Object.entries({ ...always, ...(route.scope && { 401: 'No valid token.' }) })
    .filter(([status]) => !(status in route.answers))
    .map(([status, text]) => [status, answerOf(Number(status), { text }, components)]);
  return {
    operationId: route.name,
    summary: route.summary,
    ...(route.scope === undefined
      ? { security: [] }
      : {
          security: route.scope === 'admin' ? [{ token: [] }] : [{ token: [] }, { cookie: [], page: [] }],
          'x-scope': route.scope,
        }),
    parameters: parametersOf(route, components),
    ...(route.body && {
      requestBody: {
        required: route.bodyOptional !== true,
        content: { 'application/json': { schema: components.use(route.body, 'input') } },
      },
    }),
    responses: Object.fromEntries([...answers, ...problems]),
  };
}

function answerOf(status: number, answer: ResponseText, components: Components): OpenApiNode {
  const { text, schema, type = 'application/json' } = answer;
  if (status === 204) return { description: text };
  const isProblem = status >= 400;
  const content = isProblem
    ? { 'application/problem+json': { schema: components.use(problemSchema) } }
    : { [type]: { schema: schema === undefined ? {} : components.use(schema) } };
  return { description: text, content };
}

function parametersOf(route: Route, components: Components): OpenApiNode[] {
  const ofPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', pattern: `^${idPattern}$` },
  }));
  const query = route.query === undefined ? {} : components.use(route.query, 'input');
  const { properties = {}, required = [] } = query as {
    properties?: Record<string, OpenApiNode>;
    required?: string[];
  };
  const ofQuery = Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));
  const ofHeaders = Object.entries(route.headers ?? {}).map(([name, description]) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  }));
  return [...ofPath, ...ofQuery, ...ofHeaders];
}
