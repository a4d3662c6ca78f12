import { AgentError } from '@cobbler/agent';
import { recordChildren } from '../config/backend.ts';
import { serverWords, troubleLines } from '../config/mcp-servers.ts';
import type { Settings } from '../config/settings.ts';
import { formatMs } from '../terminal/format.ts';
import type { Io } from '../terminal/io.ts';
import type { Check } from './check.ts';

type Report = Parameters<typeof troubleLines>[0];

/** Connects to every MCP server of the configuration and asks for its tools. Never throws. */
export async function checkMcp({ file }: Pick<Settings, 'file'>, io: Io): Promise<Check[]> {
  const { mcp: servers = {} } = file.values;
  if (Object.keys(servers).length === 0) return [];
  const off = Object.entries(servers).filter(([, { disabled }]) => disabled === true);
  const checks: Check[] = off.map(([name]) => ({ name: `mcp ${name}`, ok: true, found: 'disabled' }));
  const path = file.path ?? 'the configuration';
  try {
    await recordChildren(io.env);
    const { connectMcp } = await import('@cobbler/tools/mcp');
    const mcp = await connectMcp({ servers, env: io.env, cwd: io.cwd() });
    for (const report of mcp.servers) {
      const server = servers[report.name];
      checks.push(serverCheck(report, server === undefined ? report.name : serverWords(server), path));
    }
    await mcp.close();
  } catch (error) {
    const found = AgentError.from(error).message;
    checks.push({ name: 'mcp', ok: false, found, repair: `correct it in ${path}` });
  }
  return checks;
}

function serverCheck(report: Report, words: string, path: string): Check {
  const { name, identity, tools, ms, problem } = report;
  if (problem !== undefined) {
    const repair = `run it by hand (${words}), or set disabled: true in ${path}`;
    return { name: `mcp ${name}`, ok: false, found: problem, repair };
  }
  const [left] = troubleLines(report);
  const found = [identity, `${tools} tool${tools === 1 ? '' : 's'} in ${formatMs(ms)}`, left].filter(Boolean);
  return { name: `mcp ${name}`, ok: true, found: found.join(', ') };
}
