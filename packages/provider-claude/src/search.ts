import type { TextCitationParam } from '@anthropic-ai/sdk/resources/messages';
import type { Json } from '@cobbler/agent';
import type { ResponseSink } from '@cobbler/agent/provider';
import type { Fields } from './fields.ts';
import { fieldsOf, isFields, textOf } from './fields.ts';

/**
 * The version whose results all reach the model directly. Later ones let the model filter them with code, which needs
 * a container. Source: platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool, read on 2026-11-30.
 */
export const searchTool = { type: 'web_search_20250305', name: 'web_search', max_uses: 10 } as const;

/** The calls of the service's own tools whose input is arriving, by the index of their block. */
export type ServerCalls = Map<number, { readonly call: Fields; input: string }>;

/** Adds to the input of a call of the service's own tool. Returns false if the block is not one. */
export function addServerInput(calls: ServerCalls, at: number, json: string, out: ResponseSink): boolean {
  const held = calls.get(at);
  if (held === undefined) return false;
  held.input += json;
  // The end of the block replaces it, unless the input is cut off: such a call has not run and is not sent back.
  out.seal(at, json);
  return true;
}

/** Ends a block. */
export function endBlock(calls: ServerCalls, at: number, out: ResponseSink): void {
  const held = calls.get(at);
  calls.delete(at);
  if (held !== undefined) sealCall(at, held.call, held.input, out);
  out.close(at);
}

function sealCall(at: number, call: Fields, json: string, out: ResponseSink): void {
  let input: unknown;
  try {
    input = json === '' ? call['input'] : JSON.parse(json);
  } catch {}
  if (!isFields(input)) return;
  const sealed = { ...call, input } as Json;
  if (call['name'] === searchTool.name) out.seal(at, sealed, { searched: textOf(input['query']) });
  else out.seal(at, sealed);
}

/** Stores a block that arrived as a whole. Users see nothing of it, except why a search failed. */
export function sealBlock(at: number, block: Fields, out: ResponseSink): void {
  const problem = fieldsOf(block['content'])['error_code'];
  const isFailed = block['type'] === 'web_search_tool_result' && typeof problem === 'string';
  if (isFailed) out.seal(at, block as Json, { problem });
  else out.seal(at, block as Json);
}

/** Stores a citation after its text, which must be open. */
export function sealCitation(at: number, given: unknown, out: ResponseSink): void {
  out.text(at, '');
  const { url, title } = fieldsOf(given);
  const source = typeof url === 'string' && { url, ...(typeof title === 'string' && { title }) };
  out.seal(at, { type: 'citation', citation: given as Json }, source ? { sources: [source] } : {});
}

/** Returns the citation in a part that {@link sealCitation} has stored. */
export function citationIn(data: unknown): TextCitationParam | undefined {
  const { type, citation } = fieldsOf(data);
  return type === 'citation' ? (citation as TextCitationParam) : undefined;
}
