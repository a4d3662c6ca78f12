import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import type { BrowserContextOptions } from 'playwright-core';

/** What the tests need of a browser window, in the terms of WebDriver. */
export interface Wire {
  readonly navigate: (url: string) => Promise<void>;
  readonly reload: () => Promise<void>;
  readonly back: () => Promise<void>;
  /** Calls a function in the page with a text; it returns a text or its promise. Rejects if it throws. */
  readonly call: (source: string, text: string) => Promise<string>;
  /** Performs actions of WebDriver: of keys or of a pointer. */
  readonly act: (actions: readonly object[]) => Promise<void>;
  readonly resize: (width: number, height: number) => Promise<void>;
  readonly cookies: () => Promise<readonly object[]>;
  /** Returns a PNG in base64. */
  readonly screenshot: () => Promise<string>;
  /** Errors that the browser reported, if it reports any. */
  readonly complaints: readonly string[];
}

/** One profile in a browser. */
export interface WireContext {
  readonly newPage: () => Promise<Wire>;
  readonly close: () => Promise<void>;
}

/** A browser without the interface of Playwright. */
export interface WireBrowser {
  readonly newContext: (options: BrowserContextOptions) => Promise<WireContext>;
  readonly close: () => Promise<void>;
}

/** A program that was started, and how to end it. */
export interface Started {
  readonly child: ChildProcess;
  readonly stop: () => Promise<void>;
}

/** Starts a program of which one file descriptor can be read. */
export function start(
  [program = '', ...args]: readonly string[],
  readable: number,
  env: NodeJS.ProcessEnv,
): Started {
  const stdio = [0, 1, 2, 3].map((at): 'pipe' | 'ignore' => (at === readable ? 'pipe' : 'ignore'));
  const child = spawn(program, args, { stdio, env: { ...process.env, ...env } });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stop = async () => {
    child.kill();
    const late = setTimeout(() => child.kill('SIGKILL'), 5_000);
    await ended;
    clearTimeout(late);
  };
  return { child, stop };
}

/** Resolves with the first match in what a program writes to a file descriptor. */
export async function wordFrom({ child }: Started, readable: number, wanted: RegExp): Promise<string> {
  return await new Promise((resolve, reject) => {
    let all = '';
    (child.stdio[readable] as NodeJS.ReadableStream).on('data', (piece) => {
      all += piece;
      const [, found] = wanted.exec(all) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once('error', reject);
    child.once('close', () => reject(new Error(`${child.spawnfile} ended: ${all}`)));
  });
}
