import { defined } from '@cobbler/agent/values';
import { Refused } from './refused.ts';

/** An answer of the Bot API. */
export function answerOf(outcome: { readonly result: unknown } | Refused): Response {
  const json = { 'content-type': 'application/json' };
  if (!(outcome instanceof Refused))
    return new Response(JSON.stringify({ ok: true, result: outcome.result }), { headers: json });
  const { status, message, parameters } = outcome;
  const body = {
    ok: false,
    error_code: status,
    description: message,
    ...defined({ parameters }),
  };
  return new Response(JSON.stringify(body), { status, headers: json });
}

/** The payload of a call: JSON, a form, or the query. */
export async function payloadOf(request: Request): Promise<Record<string, unknown>> {
  const query = Object.fromEntries(new URL(request.url).searchParams);
  const type = request.headers.get('content-type') ?? '';
  if (type.includes('multipart/form-data')) return { ...query, ...(await formOf(request)) };
  const text = await request.text();
  if (text === '') return query;
  if (type.includes('application/x-www-form-urlencoded'))
    return { ...query, ...Object.fromEntries(new URLSearchParams(text)) };
  if (!type.includes('application/json')) throw new Refused(400, 'Bad Request: unsupported content type');
  try {
    return { ...query, ...(JSON.parse(text) as Record<string, unknown>) };
  } catch {
    throw new Refused(400, "Bad Request: can't parse JSON object");
  }
}

async function formOf(request: Request): Promise<Record<string, unknown>> {
  const fields: Record<string, unknown> = {};
  for (const [name, value] of await request.formData())
    fields[name] =
      typeof value === 'string' ? value : { name: value.name, type: value.type, text: await value.text() };
  return fields;
}
