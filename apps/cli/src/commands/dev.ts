import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AgentFolder } from '@cobbler/agent/definitions';
import type { RawOptions } from '../config/run-flags.ts';
import { agentKey, reloadAgent, withAgent } from '../project/agent-folder.ts';
import type { WatchFolder } from '../project/watch-folder.ts';
import { folderWatcher } from '../project/watch-folder.ts';
import { readServeFlags } from '../server/serve-flags.ts';
import { serverHome } from '../server/server-home.ts';
import { visible } from '../terminal/escape.ts';
import type { Io } from '../terminal/io.ts';
import { screenFor } from '../terminal/screen.ts';
import { chat } from './chat.ts';
import type { ServeLife, Serving } from './serve.ts';
import { serveUntil, waitForStop } from './serve.ts';

/**
 * Runs `cobbler dev [folder]`: serves an agent with the page and the API, with a chat if there is a terminal, and uses
 * changed files for the next run. Returns the exit code.
 */
export async function dev(
  folder: string = '.',
  options: RawOptions,
  io: Io,
  watch: WatchFolder = folderWatcher(io.clock),
): Promise<number> {
  const given = readServeFlags({ ...options, agent: folder });
  const work = await withAgent(given.work, io);
  const agent = work.agentFolder as AgentFolder;
  let tell = (line: string): void => io.stderr.write(`cobbler: ${visible(line)}\n`);
  let log = (line: string): void => io.stderr.write(`${line}\n`);
  const until = async ({ server, token, reload }: Serving) => {
    const stop = watch(agent.folder, async () => {
      try {
        const next = await reloadAgent(given.work, io);
        await reload(next);
        const names = next.agentFolder?.tools.map(({ name }) => name) ?? [];
        tell(`The next run uses the changed agent. Tools: ${names.join(', ') || 'none'}`);
      } catch (error) {
        const { message } = error as Error;
        tell(`${message} The last version that worked stays in use.`);
      }
    });
    try {
      if (!io.stdin.tty || !screenFor(io.stdout, io.env).redraw) return await waitForStop(server, io);
      const connect = `${server.url}/#token=${token}`;
      await chat([], { connect }, io, (inChat) => {
        tell = inChat;
        log = inChat;
      });
      await server.close();
    } finally {
      stop();
    }
  };
  const life: ServeLife = {
    report: (line) => tell(line),
    log: (line) => log(line),
    isDevelopment: true,
    until,
  };
  return await serveUntil([], { ...given, work, store: given.store ?? storeOf(agent, io) }, life, io);
}

/** Returns the file with the sessions of an agent under development, which are not those of a server. */
function storeOf(agent: AgentFolder, io: Io): string {
  const file = join(dirname(serverHome(io.env).store), 'dev', `${agentKey(agent)}.db`);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  return file;
}
