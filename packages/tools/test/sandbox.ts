import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Tool, ToolContext, ToolOutput } from '@cobbler/agent';
import { AgentError, Budget } from '@cobbler/agent';

/** A workspace next to a directory that the tools must never access. */
export interface Sandbox {
  /** The directory that contains both; `remove` deletes it. */
  readonly area: string;
  readonly root: string;
  readonly outside: string;
  write(path: string, content: string | Uint8Array): void;
  read(path: string): string;
  remove(): void;
}

export function sandbox(files: Readonly<Record<string, string | Uint8Array>> = {}): Sandbox {
  const area = mkdtempSync(join(tmpdir(), 'tools-'));
  const root = join(area, 'root');
  const outside = join(area, 'outside');
  mkdirSync(root);
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret.txt'), 'secret');
  const made: Sandbox = {
    area,
    root,
    outside,
    write(path, content) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content);
    },
    read: (path) => readFileSync(join(root, path), 'utf8'),
    remove: () => rmSync(area, { recursive: true, force: true }),
  };
  for (const [path, content] of Object.entries(files)) made.write(path, content);
  return made;
}

/** The result of a call, as the model and progress listeners see it. */
export interface Called {
  readonly text: string;
  readonly isError: boolean;
  readonly output: ToolOutput | undefined;
  readonly error: AgentError | undefined;
  readonly progress: readonly string[];
}

export interface CallOptions extends Partial<Pick<ToolContext, 'approved' | 'sessionId'>> {
  readonly signal?: AbortSignal;
  readonly onProgress?: (text: string) => void;
}

/** Calls a tool directly. An error becomes the text that a model would receive. */
export async function call(
  tool: Tool,
  args: Record<string, unknown>,
  options: CallOptions = {},
): Promise<Called> {
  const progress: string[] = [];
  const context: ToolContext = {
    signal: options.signal ?? new AbortController().signal,
    callId: 'call-1',
    idempotencyKey: 'key-1',
    budget: new Budget(),
    approved: options.approved,
    sessionId: options.sessionId,
    progress(text) {
      progress.push(text);
      options.onProgress?.(text);
    },
  };
  try {
    const output = (await tool.execute(args, context)) as ToolOutput;
    return { text: textOf(output), isError: output.isError === true, output, error: undefined, progress };
  } catch (error) {
    if (!AgentError.is(error)) throw error;
    return { text: error.message, isError: true, output: undefined, error, progress };
  }
}

function textOf({ content }: ToolOutput): string {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
