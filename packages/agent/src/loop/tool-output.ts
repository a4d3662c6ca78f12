import type { Offload, OffloadedOutput } from '../context/offload.ts';
import type { BlobReference } from '../events/event.ts';
import type { Tool } from '../interfaces/tool.ts';
import type { ToolResultPart } from '../values/message.ts';
import { cap, maxOutputBytes } from '../values/truncate.ts';
import type { RunContext } from './run-context.ts';

/** Most bytes of one output that are put away. */
const maxKept = 16_777_216;

/** How long putting one text away may take, in milliseconds. */
const patienceMs = 5_000;

/** Most bytes of this tool's output that the model sees. */
export function shownBytes(tool: Tool): number {
  return Math.min(tool.maxOutputBytes ?? maxOutputBytes, maxOutputBytes);
}

/** Most bytes of this tool's output that are of any use: what can be put away may be longer than what is shown. */
export function usefulBytes(run: RunContext, tool: Tool): number {
  return offloadFor(run, tool) === undefined ? shownBytes(tool) : maxKept;
}

/** What the reading tool gives is not put away again. */
function offloadFor({ config: { context } }: RunContext, tool: Tool): Offload | undefined {
  return context?.offload?.tool === tool ? undefined : context?.offload;
}

/** Tool output as it stands in the log: long texts put away, or shortened where that is not possible. */
export async function shortened(
  run: RunContext,
  tool: Tool,
  content: readonly ToolResultPart[],
): Promise<{ content: readonly ToolResultPart[]; blobs?: readonly BlobReference[] }> {
  const spill = offloadFor(run, tool);
  if (spill === undefined) return { content };
  const texts = content.filter((part) => part.type === 'text').length;
  const most = Math.min(spill.overBytes, Math.floor(shownBytes(tool) / Math.max(1, texts)));
  const blobs: BlobReference[] = [];
  const parts: ToolResultPart[] = [];
  for (const part of content) {
    if (part.type !== 'text' || bytesOf(part.text) <= most) {
      parts.push(part);
      continue;
    }
    const spilled = await patiently(run, spill.put(part.text, most, run.config.runtime.digest));
    if (spilled !== undefined) blobs.push(spilled.blob);
    parts.push({ type: 'text', text: spilled?.excerpt ?? cap(part.text, most) });
  }
  return { content: parts, ...(blobs.length > 0 && { blobs }) };
}

/** Nothing when it fails, takes too long or the run must stop: only the middle of an output is lost then. */
function patiently(
  { config: { runtime }, onStop }: RunContext,
  putting: Promise<OffloadedOutput>,
): Promise<OffloadedOutput | undefined> {
  return new Promise((resolve) => {
    const giveUp = () => finish(undefined);
    const cancel = runtime.timer(patienceMs, giveUp);
    const finish = (spilled: OffloadedOutput | undefined) => {
      cancel();
      stopWatching();
      resolve(spilled);
    };
    const stopWatching = onStop(giveUp);
    putting.then(finish, giveUp);
  });
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
