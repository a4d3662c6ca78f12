import { relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Reader } from '../../values/input.ts';
import { any, listOf, read, record, when } from '../../values/input.ts';
import type { PartFile, PartList } from './folder-parts.ts';
import { checkNames, PartProblem, readParts } from './folder-parts.ts';
import type { ImportModule } from './folder-tools.ts';
import { folderFault, problemIn } from './folder-tools.ts';

/** A bot on Telegram, from `channels/telegram.json`. */
export interface TelegramDefinition {
  readonly kind: 'telegram';
  readonly name: string;
  /** The path of its file. */
  readonly path: string;
  /** The name of the environment variable with the token of the bot. */
  readonly token: string;
  /** The ids of the users who may use the bot. */
  readonly users: readonly string[];
  /** The ids of the users who can let a budget spend more. */
  readonly admins: readonly string[];
}

/** A module that exports a channel. */
export interface ModuleDefinition {
  readonly kind: 'module';
  readonly name: string;
  /** The path of its file. */
  readonly path: string;
  /**
   * Runs the module and returns its default export.
   * @throws AgentError `invalid`, code `agent_folder`, with path and line, if this fails.
   */
  load(): Promise<unknown>;
}

/** A place where users can write to an agent. */
export type ChannelDefinition = TelegramDefinition | ModuleDefinition;

const userId = when<string>((value) => /^[1-9]\d{0,15}$/.test(String(value)), 'the number of a user');

const userIds: Reader<readonly string[]> = (value) => listOf(userId)(value).map(String);

/** A token that is written here by mistake must not be part of an error. */
const isVariable = (value: unknown) => typeof value === 'string' && /^[A-Za-z_]\w{0,99}$/.test(value);

const fields = { token: any, users: userIds, admins: userIds };

const readTelegram = record<Omit<TelegramDefinition, 'kind' | 'name' | 'path'>>(fields);

/** Reads the channels of an agent: `telegram.json`, and modules, whose code does not run yet. */
export async function readChannels(folder: string, load: ImportModule): Promise<PartList<ChannelDefinition>> {
  const endings = /^telegram\.json$|(?<!\.(d|test|spec))\.m?[jt]s$/;
  const words = 'telegram.json, and .ts, .js, .mts or .mjs files';
  return await readParts(folder, { directory: 'channels', endings, words }, (file) =>
    file.path.endsWith('.json') ? telegramOf(file) : moduleOf(file, folder, load),
  );
}

function telegramOf({ name, path, text }: PartFile): TelegramDefinition {
  const given = jsonOf(text);
  checkNames(given, Object.keys(fields), 'field');
  const { token = 'TELEGRAM_BOT_TOKEN', users = [], admins = [] } = read(given, readTelegram, name);
  if (isVariable(token)) return { kind: 'telegram', name, path, token, users, admins };
  throw new PartProblem('its token must be the name of an environment variable, such as TELEGRAM_BOT_TOKEN');
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const [, line = text.trimEnd().split('\n').length] = /\(line (\d+)/.exec(String(error)) ?? [];
    throw new PartProblem('it is not valid JSON', Number(line));
  }
}

function moduleOf({ name, path }: PartFile, folder: string, importModule: ImportModule): ModuleDefinition {
  const load = async () => {
    try {
      return ((await importModule(pathToFileURL(path).href)) as { readonly default?: unknown }).default;
    } catch (error) {
      throw folderFault(folder, await problemIn(folder, relative(folder, path), error));
    }
  };
  return { kind: 'module', name, path, load };
}
