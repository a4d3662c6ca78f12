import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { expect, onTestFinished } from 'vitest';
import type { Ended } from './binary.ts';
import { bareEnvironment, command, ended } from './binary.ts';

/** A running `cobbler serve`. */
export interface Serving {
  readonly child: ChildProcess;
  readonly end: Promise<Ended>;
  readonly url: string;
  readonly token: string;
  ask(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; json: Record<string, unknown> }>;
}

/** Starts `cobbler serve` and waits for the address that it prints. */
export async function serving(env: Record<string, string>, cwd: string, ...args: string[]): Promise<Serving> {
  const [program = '', ...flags] = command;
  const child = spawn(program, [...flags, 'serve', '--port', '0', ...args], {
    cwd,
    env: bareEnvironment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const end = ended(child, { onOutput: (text) => /#token=/.test(text) && resolve(text) });
  void end.then(({ stderr }) => reject(new Error(`The server exited: ${stderr}`)));
  const [url = '', token = ''] = (await promise).trim().split('/#token=');
  return {
    child,
    end,
    url,
    token,
    async ask(method, path, body) {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const text = body === undefined ? {} : { body: JSON.stringify(body) };
      const response = await fetch(url + path, { method, headers, ...text });
      return { status: response.status, json: await response.json() };
    },
  };
}

/** Waits until a session has a status. */
export async function until(server: Serving, session: string, status: string): Promise<void> {
  await expect
    .poll(async () => (await server.ask('GET', `/v1/sessions/${session}`)).json['status'], {
      timeout: 60_000,
    })
    .toBe(status);
}
