import type { TextCitationParam } from '@anthropic-ai/sdk/resources/messages';
import type { Json } from '@cobbler/agent';
import type { ResponseSink } from '@cobbler/agent/provider';
import type { Fields } from './fields.ts';
import { fieldsOf, isFields, listOf, textOf } from './fields.ts';

/**
 * The version whose results all reach the model directly. Later ones let the model filter them with code, which needs
 * a container. Source: platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool, read on 2026-11-30.
 */
export const searchTool = { type: 'web_search_20250305', name: 'web_search' } as const;

/** What has arrived of a block that is stored when it ends: a call of the service's own tool, or citations of a text. */
interface HeldBlock {
  readonly call: Fields | undefined;
  input: string;
  readonly citations: Json[];
  size: number;
}

/** The held blocks of a response, by index. */
export type HeldBlocks = Map<number, HeldBlock>;

/** Maximum size of what is held of a block. */
const maxHeld = 16 * 1024 * 1024;

function hold(held: HeldBlocks, at: number, size: number, out: ResponseSink, call?: Fields): HeldBlock {
  const block = held.get(at) ?? { call, input: '', citations: [], size: 0 };
  held.set(at, block);
  block.size += size;
  if (block.size > maxHeld)
    out.fail({ kind: 'broken', message: 'The response is invalid: a block is too large.' });
  return block;
}

/** Begins a call of one of the service's own tools. Its input follows in deltas, or is complete. */
export function beginServerCall(held: HeldBlocks, at: number, call: Fields, out: ResponseSink): void {
  out.begin(at, 'opaque');
  hold(held, at, 0, out, call);
}

/** Adds to the input of a call of the service's own tool. Returns false if the block is not one. */
export function addServerInput(
  held: HeldBlocks | undefined,
  at: number,
  json: string,
  out: ResponseSink,
): boolean {
  if (held?.get(at)?.call === undefined) return false;
  hold(held, at, json.length, out).input += json;
  // Nothing is lost: the end of the block stores it.
  out.ignore('input of server_tool_use');
  return true;
}

/** Adds a citation of a text, which makes the response invalid if the block is not an open text. */
export function addCitation(held: HeldBlocks, at: number, citation: unknown, out: ResponseSink): void {
  out.text(at, '');
  hold(held, at, JSON.stringify(citation ?? null).length, out).citations.push(citation as Json);
}

/** Ends a block, and stores what was held of it. */
export function endBlock(held: HeldBlocks, at: number, out: ResponseSink): void {
  const block = held.get(at);
  held.delete(at);
  if (block?.call !== undefined) sealCall(at, block.call, block.input, out);
  out.close(at);
  if (block === undefined || block.citations.length === 0) return;
  const sources = block.citations.flatMap((citation) => {
    const { url, title } = fieldsOf(citation);
    return typeof url === 'string' ? [typeof title === 'string' ? { url, title } : { url }] : [];
  });
  out.seal(at, { type: 'citations', citations: block.citations }, { sources });
}

function sealCall(at: number, call: Fields, json: string, out: ResponseSink): void {
  let input: unknown;
  try {
    input = json === '' ? call['input'] : JSON.parse(json);
  } catch {}
  // A call that was cut off has not run, and the service would reject it.
  if (!isFields(input)) return out.ignore('server_tool_use that was cut off');
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

/** Returns the citations in a part that {@link endBlock} has stored. */
export function citationsIn(data: unknown): TextCitationParam[] | undefined {
  const { type, citations } = fieldsOf(data);
  return type === 'citations' ? (listOf(citations) as TextCitationParam[]) : undefined;
}
