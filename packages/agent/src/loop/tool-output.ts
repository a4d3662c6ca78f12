import type { Offload, OffloadedOutput } from '../context/offload.ts';
import type { BlobReference } from '../events/event.ts';
import type { Tool } from '../interfaces/tool.ts';
import { count, read, record, text } from '../values/input.ts';
import type { ToolResultPart } from '../values/message.ts';
import { maxOutputBytes } from '../values/sizes.ts';
import { byteLength, cap } from '../values/truncate.ts';
import { wellFormedText } from '../values/unicode.ts';
import type { RunContext } from './run-context.ts';

/** Maximum number of bytes of one output that are offloaded. */
const maxKept = 16_777_216;

/** Maximum time to offload one text, in milliseconds. */
const offloadTimeoutMs = 5_000;

/** Returns the maximum number of bytes of this tool's output that the model sees. */
export function shownBytes(tool: Tool): number {
  return Math.min(tool.maxOutputBytes ?? maxOutputBytes, maxOutputBytes);
}

/** Returns the maximum number of bytes of this tool's output that are kept: more than the model sees if it is offloaded. */
export function usefulBytes(run: RunContext, tool: Tool): number {
  return offloadFor(run, tool) === undefined ? shownBytes(tool) : maxKept;
}

/** Returns the offload for a tool. The output of the reading tool is not offloaded again. */
function offloadFor({ config: { context } }: RunContext, tool: Tool): Offload | undefined {
  return context?.offload?.tool === tool ? undefined : context?.offload;
}

/** Returns tool output as the log stores it: long texts are offloaded, or truncated if that is not possible. */
export async function shortened(
  run: RunContext,
  tool: Tool,
  content: readonly ToolResultPart[],
): Promise<{ content: readonly ToolResultPart[]; blobs?: readonly BlobReference[] }> {
  const offload = offloadFor(run, tool);
  if (offload === undefined) return { content };
  const texts = content.filter((part) => part.type === 'text').length;
  const maxBytes = Math.min(offload.overBytes, Math.floor(shownBytes(tool) / Math.max(1, texts)));
  const blobs: BlobReference[] = [];
  const parts: ToolResultPart[] = [];
  for (const part of content) {
    if (part.type !== 'text' || byteLength(part.text) <= maxBytes) {
      parts.push(part);
      continue;
    }
    // Once the run must stop, nothing would end the wait of `withTimeout`.
    const offloaded = run.isStopping
      ? undefined
      : await withTimeout(run, putText(offload, part.text, maxBytes, run.config.runtime.digest));
    if (offloaded !== undefined) blobs.push(offloaded.blob);
    const excerpt = offloaded && cap(wellFormedText(offloaded.excerpt), shownBytes(tool));
    parts.push({ type: 'text', text: excerpt || cap(part.text, maxBytes) });
  }
  return { content: parts, ...(blobs.length > 0 && { blobs }) };
}

const offloadedFields = record<OffloadedOutput>(
  { excerpt: text, blob: record<BlobReference>({ id: text, bytes: count }, ['id', 'bytes']) },
  ['excerpt', 'blob'],
);

async function putText(offload: Offload, ...given: Parameters<Offload['put']>): Promise<OffloadedOutput> {
  return read(await offload.put(...given), offloadedFields, 'context.offload.put()');
}

/** Resolves with undefined if it fails, takes too long or the run must stop; only the middle of an output is lost then. */
function withTimeout(
  run: RunContext,
  putting: Promise<OffloadedOutput>,
): Promise<OffloadedOutput | undefined> {
  return new Promise((resolve) => {
    const giveUp = () => finish(undefined);
    const cancel = run.config.runtime.timer(offloadTimeoutMs, giveUp);
    const finish = (offloaded: OffloadedOutput | undefined) => {
      cancel();
      stopWatching();
      resolve(offloaded);
    };
    const stopWatching = run.onStop(giveUp);
    putting.then(finish, giveUp);
  });
}
