import { createHash } from 'node:crypto';
import type { Route, RouteResponse } from '../http/route.ts';
import { route } from '../http/route.ts';
import { openApi } from './open-api.ts';

/** Returns the routes that describe these routes and themselves, for programs and for readers. */
export function descriptionRoutes(routes: readonly Route[], version: string): Route[] {
  const own: Route[] = [
    route({
      method: 'GET',
      path: '/openapi.json',
      name: 'openApi',
      summary: 'Returns the OpenAPI 3.1 description of this API.',
      answers: { 200: { text: 'The description.' } },
      handle: () => ({ status: 200, json: document() }),
    }),
    route({
      method: 'GET',
      path: '/docs',
      name: 'docs',
      summary: 'Shows the documentation for this API.',
      answers: { 200: { text: 'A page.', type: 'text/html' } },
      handle: () => docsPage(described, document()),
    }),
  ];
  const described = [...routes, ...own];
  let cached: Record<string, unknown> | undefined;
  const document = () => {
    cached ??= openApi(described, version);
    return cached;
  };
  return own;
}

const style = `
body { font: 15px/1.5 system-ui, sans-serif; max-width: 760px; margin: 2rem auto; padding: 0 1rem; }
code, pre { font: 13px/1.5 ui-monospace, monospace; }
pre { overflow: auto; padding: .5rem; border: 1px solid #8884; border-radius: 4px; }
h2 { margin-top: 2.5rem; font-size: 1rem; } h2 b { font-family: ui-monospace, monospace; }
table { border-collapse: collapse; } td, th { text-align: left; padding: .1rem 1rem .1rem 0; vertical-align: top; }
:root { color-scheme: light dark; } .scope { opacity: .7; font-weight: normal; }
`;

function docsPage(routes: readonly Route[], document: Record<string, unknown>): RouteResponse {
  const { paths } = document as { paths: Record<string, Record<string, Record<string, unknown>>> };
  const parts = routes.map((route) => {
    const described = paths[route.path]?.[route.method.toLowerCase()] ?? {};
    return section(route, described);
  });
  const intro = `<h1>Cobbler API</h1>
<p>Also available as OpenAPI 3.1: <a href="/openapi.json">openapi.json</a>. Each request needs
<code>Authorization: Bearer TOKEN</code>. Errors are <code>application/problem+json</code> with a <code>code</code>.</p>`;
  return page('Cobbler API', intro + parts.join('\n') + schemasOf(document));
}

function section(route: Route, described: Record<string, unknown>): string {
  const answers = Object.entries(route.answers).map(
    ([status, { text }]) => `<tr><th>${status}</th><td>${escapeHtml(text)}</td></tr>`,
  );
  const headers = Object.entries(route.headers ?? {}).map(
    ([name, text]) => `<tr><th>${escapeHtml(name)}</th><td>${escapeHtml(text)}</td></tr>`,
  );
  const query = (described['parameters'] as { in: string; name: string }[] | undefined)?.filter(
    (parameter) => parameter.in === 'query',
  );
  const queryText = (query ?? []).map(({ name }) => `<code>?${escapeHtml(name)}=</code>`).join(' ');
  const body = (described['requestBody'] as { content?: Record<string, { schema: unknown }> } | undefined)
    ?.content?.['application/json']?.schema;
  return `<section id="${route.name}"><h2><b>${route.method} ${escapeHtml(route.path)}</b>
<span class="scope">${route.scope ?? 'open'}</span></h2>
<p>${escapeHtml(route.summary)} ${queryText}</p>
${body === undefined ? '' : `<pre>${escapeHtml(JSON.stringify(body, null, 2))}</pre>`}
<table>${headers.join('')}${answers.join('')}</table></section>`;
}

function schemasOf(document: Record<string, unknown>): string {
  const { components } = document as { components: { schemas: Record<string, unknown> } };
  const parts = Object.entries(components.schemas).map(
    ([name, schema]) =>
      `<details id="schema-${escapeHtml(name)}"><summary><code>${escapeHtml(name)}</code></summary>` +
      `<pre>${escapeHtml(JSON.stringify(schema, null, 2))}</pre></details>`,
  );
  return `<h2>Schemas</h2>${parts.join('\n')}`;
}

function page(title: string, body: string): RouteResponse {
  const text = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title><style>${style}</style></head><body>${body}</body></html>
`;
  const policy = [
    "default-src 'none'",
    `style-src ${hashOf(style)}`,
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy };
  return { status: 200, text, headers };
}

function hashOf(source: string): string {
  return `'sha256-${createHash('sha256').update(source).digest('base64')}'`;
}

function escapeHtml(text: string): string {
  const named: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replace(/[&<>"]/g, (char) => named[char] ?? char);
}
