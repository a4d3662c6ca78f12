import { existsSync } from 'node:fs';
import { readdir, readFile, realpath } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import type { Tool } from '../../interfaces/tool.ts';
import { defined } from '../../values/defined.ts';
import { AgentError } from '../../values/errors.ts';
import { callable, read, record, text } from '../../values/input.ts';
import { isObject } from '../../values/json.ts';
import type { McpServerConfig } from '../loaded-config.ts';
import { mcpProblem } from '../mcp-setting.ts';
import type { ChannelDefinition } from './channels.ts';
import type { AgentDefinition, SkillDefinition } from './definition.ts';
import type { EvalDefinition } from './evals.ts';
import type { ImportModule, UnusedFile } from './folder-tools.ts';
import { oneLine, readFrontMatter } from './front-matter.ts';
import { maxTextBytes, PlaceReader } from './place-reader.ts';
import { namesIn, readAgentDefinitions, readSkills } from './read-definitions.ts';
import type { ScheduleDefinition } from './schedules.ts';
import { skillTool } from './skill-tool.ts';

/** An agent that is a folder: each of its parts has the name of its file. */
export interface AgentFolder {
  /** The name of the folder. */
  readonly name: string;
  /** The real path. */
  readonly folder: string;
  /** One line from the settings of `instructions.md`. */
  readonly description?: string;
  /** The text of `instructions.md`. */
  readonly instructions: string;
  /** The model that the settings of `instructions.md` name. */
  readonly model?: string;
  /** The names of tools of the program that loads the agent, such as `read_file`, which the agent uses too. */
  readonly hostTools: readonly string[];
  /** The tools of `tools`. */
  readonly tools: readonly Tool[];
  readonly skills: readonly SkillDefinition[];
  /** The sub-agents of `agents`. */
  readonly agents: readonly AgentDefinition[];
  /** The servers of `mcp.json`, which start in the agent's folder. */
  readonly mcp: Readonly<Record<string, McpServerConfig>>;
  /** The prompts of `schedules`. A program sends them at their times itself. */
  readonly schedules: readonly ScheduleDefinition[];
  /** The cases of `evals`. */
  readonly evals: readonly EvalDefinition[];
  /** The channels of `channels`. */
  readonly channels: readonly ChannelDefinition[];
  /** Everything in the folder that is not used. */
  readonly unused: readonly UnusedFile[];
  /** Options of an executor: the instructions, and the tools with the one that loads skills. */
  readonly options: { readonly system: string; readonly tools: readonly Tool[] };
}

/** Options of {@link loadAgent}. */
export interface LoadAgentOptions {
  /** Loads a tool by the URL of its file. Default: `import`. */
  readonly importModule?: ImportModule;
}

const loadOptions = record<LoadAgentOptions>({ importModule: callable });

/** Files that belong to a folder with code but not to the agent. */
const ignored =
  /^(\..*|node_modules|(README|LICENSE)(\.\w+)?|package(-lock)?\.json|.*-lock\.yaml|tsconfig\.json)$/i;

/** The parts of an agent. */
const parts = 'instructions.md tools skills agents mcp.json schedules evals channels'.split(' ');

const settings = ['description', 'model', 'tools'];

/**
 * Loads an agent from a folder. This runs the code of its tools, so load only folders that you trust.
 * @throws AgentError `invalid`, code `agent_folder`, with path and line, if the folder is not an agent or a file is broken.
 */
export async function loadAgent(folder: string, options: LoadAgentOptions = {}): Promise<AgentFolder> {
  const agent = await readAgentFolder(folder, options);
  const broken = agent.unused.filter(({ isBroken }) => isBroken);
  const [first] = broken;
  if (first === undefined) return agent;
  const more = broken.length === 1 ? '' : ` ${broken.length - 1} more of its files cannot be used.`;
  throw (await import('./folder-tools.ts')).folderFault(agent.folder, first, more);
}

/**
 * Reads an agent like {@link loadAgent}, but lists broken files in `unused` instead of throwing.
 * @throws AgentError `invalid`, code `agent_folder`, if the folder has no readable `instructions.md`.
 */
export async function readAgentFolder(given: string, options: LoadAgentOptions = {}): Promise<AgentFolder> {
  const { importModule = (url: string) => import(url) } = read(options, loadOptions);
  const path = resolve(read(given, text, 'folder'));
  if (!existsSync(join(path, 'instructions.md')))
    throw fault(`${path} is not an agent: it does not contain instructions.md.`);
  const folder = await realpath(path);
  // Readers of skills do not need what checks tools.
  const { readFolderTools } = await import('./folder-tools.ts');
  const { unused: unusedSettings, ...instructions } = await readInstructions(folder);
  const { tools, unused: unusedTools } = await readFolderTools(folder, importModule);
  const skills = await readSkills([{ folder }]);
  const agents = await readAgentDefinitions([{ folder }]);
  const { servers, unused: unusedServers } = await readServers(folder);
  const rest = await readRest(folder, importModule);
  const skipped = [...skills.skipped, ...agents.skipped].map(({ path: at, reason }) => ({
    ...{ path: relative(folder, at), reason, isBroken: false },
  }));
  return {
    ...{ name: basename(folder), folder, ...instructions, tools },
    ...{ skills: skills.found, agents: agents.found, mcp: servers, ...rest },
    unused: [
      ...[...unusedSettings, ...unusedTools, ...skipped, ...unusedServers, ...rest.unused],
      ...(await unknownIn(folder)),
    ],
    options: {
      system: instructions.instructions,
      tools: skills.found.length === 0 ? tools : [...tools, skillTool(skills.found)],
    },
  };
}

/** Reads the parts that few agents have. */
async function readRest(folder: string, importModule: ImportModule) {
  const [schedules, evals, channels] = await Promise.all([
    import('./schedules.ts').then(({ readSchedules }) => readSchedules(folder)),
    import('./evals.ts').then(({ readEvals }) => readEvals(folder)),
    import('./channels.ts').then(({ readChannels }) => readChannels(folder, importModule)),
  ]);
  const unused = [schedules, evals, channels].flatMap((part) => part.unused);
  return { schedules: schedules.found, evals: evals.found, channels: channels.found, unused };
}

async function readInstructions(folder: string) {
  const path = 'instructions.md';
  const bytes = await new PlaceReader(undefined).bytes(join(folder, path), maxTextBytes);
  const { fields, body, problem } = await readFrontMatter(bytes.toString('utf8'));
  const hostTools = namesIn(fields['tools']);
  const reason = problem ?? (body === '' ? 'it is empty: write what the agent does' : undefined);
  if (reason !== undefined || hostTools === undefined)
    throw fault(`${join(folder, path)}: ${reason ?? 'its tools are not a list of names'}.`);
  const strange = Object.keys(fields).filter((name) => !settings.includes(name));
  const [description, model] = [oneLine(fields['description']), oneLine(fields['model'])];
  return {
    ...{ instructions: body, hostTools, ...defined({ description, model }) },
    unused: strange.map((name) => ({
      ...{
        path,
        reason: `it has an unknown setting ${name}. Known: ${settings.join(', ')}`,
        isBroken: false,
      },
    })),
  };
}

interface FolderServers {
  readonly servers: Readonly<Record<string, McpServerConfig>>;
  readonly unused: readonly UnusedFile[];
}

async function readServers(folder: string): Promise<FolderServers> {
  const path = 'mcp.json';
  if (!existsSync(join(folder, path))) return { servers: {}, unused: [] };
  const broken = (reason: string, line?: number): FolderServers => ({
    ...{ servers: {}, unused: [{ path, reason, isBroken: true, ...defined({ line }) }] },
  });
  const json = await readFile(join(folder, path), 'utf8');
  try {
    const { mcpServers: given, ...rest } = { ...(JSON.parse(json) as Record<string, unknown>) };
    const servers = isObject(given) ? Object.fromEntries(Object.entries(given).map(withoutType)) : given;
    const [other] = Object.keys(rest);
    if (other !== undefined) return broken(`it has an unknown field "${other}". Known: mcpServers`);
    const problem = mcpProblem(servers);
    if (problem !== undefined) return broken(`mcpServers ${problem}`);
    return { servers: inFolder(servers as Record<string, McpServerConfig>, folder), unused: [] };
  } catch (error) {
    const { message } = AgentError.from(error);
    const line = Number(/\(line (\d+)/.exec(message)?.[1] ?? json.trimEnd().split('\n').length);
    return broken(message, line);
  }
}

/** Other programs also write the kind of a server, which follows from its other fields. */
function withoutType([name, server]: [string, unknown]): [string, unknown] {
  const { type, ...rest } = isObject(server) ? server : {};
  const isPlain = (type === 'stdio' && 'command' in rest) || (type === 'http' && 'url' in rest);
  return [name, isPlain ? rest : server];
}

function inFolder(servers: Readonly<Record<string, McpServerConfig>>, folder: string) {
  const entries = Object.entries(servers).map(([name, server]) => [
    name,
    'url' in server ? server : { ...server, cwd: resolve(folder, server.cwd ?? '.') },
  ]);
  return Object.fromEntries(entries) as Record<string, McpServerConfig>;
}

async function unknownIn(folder: string): Promise<UnusedFile[]> {
  const names = (await readdir(folder)).sort().filter((name) => !ignored.test(name) && !parts.includes(name));
  const reason = 'it is not part of an agent, but tools can import it';
  return names.map((path) => ({ path, reason, isBroken: false }));
}

function fault(message: string): AgentError {
  return new AgentError({ kind: 'invalid', code: 'agent_folder', message });
}
