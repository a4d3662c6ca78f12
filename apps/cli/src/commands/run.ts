import { writeFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { Agent, Limits, Pricing, Tool } from '@cobbler/agent';
import type { WorkspaceToolsOptions } from '@cobbler/tools';
import { workspaceTools } from '@cobbler/tools';
import { textOrFile } from '../attachment.ts';
import type { ContextPlan } from '../context-plan.ts';
import { blobsFor, contextPlan, contextPolicy, spilledCommandBytes } from '../context-plan.ts';
import { visible } from '../escape.ts';
import type { FailureContext } from '../failure.ts';
import { checkWritable, shortPath, workFolder } from '../folder.ts';
import type { Instructions } from '../instructions.ts';
import { findInstructions } from '../instructions.ts';
import type { Io, Keyboard } from '../io.ts';
import { makeAgent } from '../make-agent.ts';
import { Permission, permissionWords } from '../permission.ts';
import { pricingFor } from '../prices.ts';
import { nothingToDo, readPrompt } from '../prompt-input.ts';
import type { LoadedProvider } from '../providers.ts';
import { openReel } from '../reel.ts';
import type { RunFlags } from '../run-flags.ts';
import { readRunFlags } from '../run-flags.ts';
import { screenFor } from '../screen.ts';
import type { Settings } from '../settings.ts';
import { hostOf, keyOf, readSettings } from '../settings.ts';
import { didYouMean } from '../suggestion.ts';
import { dayOf, systemPrompt } from '../system-prompt.ts';
import { performTask } from '../task.ts';
import { UsageError } from '../usage-error.ts';

const defaultTurns = 100;

/** `cobbler run`: works on a task with a real model. Returns the exit code. */
export async function run(
  words: readonly string[],
  options: Readonly<Record<string, unknown>>,
  io: Io,
): Promise<number> {
  const reel = await openReel(words, options, io);
  const flags = readRunFlags(reel.options);
  if (words.length === 0 && reel.prompt === undefined && io.stdin.tty) throw nothingToDo();
  const folder = workFolder(flags.dir, io);
  const output = flags.output === undefined ? undefined : resolve(io.cwd(), flags.output);
  if (output !== undefined) checkWritable(output);
  const settings = await readSettings(io.env, flags);
  const { agent, provider } = await makeAgent(settings, flags.api, reel.link(settings.file.values));
  const mayUse = flags.tools === undefined || flags.tools.length > 0;
  const context = reel.fact('context', () => contextPlan(flags, settings.file.values, mayUse));
  const tools = chooseTools(workspaceTools(workspaceOf(folder, context, io)), flags.tools);
  checkRules(flags.allow, tools);
  const instructions = flags.contextFiles ? findInstructions(folder) : undefined;
  const system = reel.fact('system', () => systemOf(flags, folder, tools, instructions, io));
  const pricing = await pricingOf(settings, agent, provider);
  const asked = reel.prompt ?? (await readPrompt(words, flags.attach, io));
  // Last, because from here on the terminal is ours.
  const keyboard = reel.isReplay ? undefined : keyboardFor(flags, tools, io);
  const isAttended = reel.fact('attended', () => keyboard !== undefined);
  const limits = reel.fact('limits', () => limitsOf(flags, settings));
  await reel.tape?.moment('the run begins');
  const { result, exitCode } = await performTask(
    {
      agent,
      tools,
      system,
      prompt: reel.isReplay ? asked : reel.fact('prompt', () => asked),
      pricing,
      permission: new Permission(flags.mode, flags.allow, isAttended),
      limits,
      allowUnpriced: flags.allowUnpriced,
      context: contextPolicy(
        context,
        reel.blobs(() => blobsFor(io.env)),
      ),
      attended: isAttended,
      form: flags.form,
      verbose: flags.verbose,
      header: [...headerOf({ agent, flags, folder, tools, instructions, isAttended }, io), ...reel.note],
      folder: shortPath(folder, io.env),
      failure: failureContext(settings, agent, io),
      ...(keyboard !== undefined && { keyboard }),
      ...(reel.tape !== undefined && { tape: reel.tape }),
    },
    io,
  );
  const ended = reel.close({ result, exitCode, form: flags.form, settings });
  return output === undefined ? ended : writeAnswer(output, result.text, ended, io);
}

/** A command's output is cut at once where the rest of it could not be read anyway. */
export function workspaceOf(root: string, { spillAbove }: ContextPlan, io: Io): WorkspaceToolsOptions {
  const room = spillAbove === 0 ? {} : { maxOutputBytes: spilledCommandBytes };
  return { root, environment: io.env, ...room };
}

export function limitsOf(
  flags: RunFlags,
  { file: { values } }: Settings,
): Limits & { readonly turns: number } {
  const usd = flags.maxUsd ?? values.maxUsd;
  return {
    turns: flags.maxTurns ?? (values.maxTurns || defaultTurns),
    ...(usd !== undefined && { usd }),
    ...(flags.maxTokens !== undefined && { tokens: flags.maxTokens }),
    ...(flags.timeoutMs !== undefined && { ms: flags.timeoutMs }),
  };
}

export function pricingOf(settings: Settings, agent: Agent, provider: LoadedProvider): Promise<Pricing> {
  const baseURL = settings.baseURL?.value;
  const sources = {
    own: settings.file.values.prices ?? {},
    aliases: provider.models,
    tables: [provider.pricing],
    ...(baseURL !== undefined && { baseURL }),
  };
  return pricingFor(sources, agent.provider, agent.model);
}

/** @throws UsageError for a name that no tool has. */
export function chooseTools(all: readonly Tool[], names: readonly string[] | undefined): readonly Tool[] {
  if (names === undefined) return all;
  const known = all.map((tool) => tool.name);
  for (const name of names) {
    if (!known.includes(name)) {
      throw new UsageError(
        `There is no tool ${JSON.stringify(name)}.${didYouMean(name, known)}`,
        `Known: ${known.join(', ')}`,
      );
    }
  }
  return all.filter((tool) => names.includes(tool.name));
}

/** A rule that names no tool would silently allow nothing. */
export function checkRules(rules: readonly string[], tools: readonly Tool[]): void {
  const known = tools.map((tool) => tool.name);
  for (const rule of rules) {
    const [name = ''] = rule.split('(');
    if (!/^[^()]+(\([\s\S]*\))?$/.test(rule.trim())) {
      throw new UsageError(
        `--allow ${JSON.stringify(rule)} is not of the form tool or tool(pattern).`,
        "For example: --allow 'run_command(npm test)'",
      );
    }
    if (name.includes('*') || known.includes(name.trim())) continue;
    throw new UsageError(
      `--allow ${JSON.stringify(rule)} names no tool of this run.${didYouMean(name.trim(), known)}`,
      `For example: --allow 'run_command(npm test)'. Tools: ${known.join(', ') || 'none'}`,
    );
  }
}

export function systemOf(
  flags: RunFlags,
  folder: string,
  tools: readonly Tool[],
  instructions: Instructions | undefined,
  io: Io,
): string[] {
  return systemPrompt({
    folder,
    platform: process.platform,
    today: dayOf(new Date()),
    hasTools: tools.length > 0,
    ...(flags.system !== undefined && { own: textOrFile(flags.system, io.cwd()) }),
    ...(flags.appendSystem !== undefined && { appended: textOrFile(flags.appendSystem, io.cwd()) }),
    ...(instructions !== undefined && { instructions }),
  });
}

/** Somebody can be asked where a person sees the question and keys can be read, and only if a question may come. */
function keyboardFor(flags: RunFlags, tools: readonly Tool[], io: Io): Keyboard | undefined {
  const mayAsk = flags.mode === 'ask' || flags.mode === 'edits';
  const isForPeople = flags.form === 'people' || flags.form === 'quiet';
  const canAsk = isForPeople && screenFor(io.stderr, io.env).redraw;
  return mayAsk && canAsk && tools.some((tool) => tool.effect !== 'read') ? io.openKeyboard() : undefined;
}

/** What the header of a run is made of. */
interface HeaderParts {
  readonly agent: Agent;
  readonly flags: RunFlags;
  readonly folder: string;
  readonly tools: readonly Tool[];
  readonly instructions: Instructions | undefined;
  /** Whether somebody can be asked. */
  readonly isAttended: boolean;
}

function headerOf({ agent, flags, folder, tools, instructions, isAttended }: HeaderParts, io: Io): string[] {
  const asks = flags.mode === 'ask' || flags.mode === 'edits';
  const denies = flags.mode === 'ask' ? 'denies edits and commands' : 'denies commands';
  const permissions = asks && !isAttended ? `${denies} (no terminal to ask at)` : permissionWords[flags.mode];
  return [
    'cobbler',
    visible(agent.model),
    visible(shortPath(folder, io.env)),
    tools.some((tool) => tool.effect !== 'read') ? permissions : permissionWords['read-only'],
    ...(instructions === undefined ? [] : [`reads ${basename(instructions.path)}`]),
  ];
}

function failureContext(settings: Settings, agent: Agent, io: Io): Omit<FailureContext, 'verbose'> {
  const key = keyOf(settings, agent.provider, io.env);
  return {
    host: hostOf(settings),
    model: agent.model,
    provider: agent.provider,
    ...(key !== undefined && { keySource: key.source }),
  };
}

function writeAnswer(path: string, text: string, exitCode: number, io: Io): number {
  if (text === '') return exitCode;
  try {
    writeFileSync(path, text.endsWith('\n') ? text : `${text}\n`);
    return exitCode;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
    io.stderr.write(`cobbler: the answer could not be written to ${visible(path)} (${code})\n`);
    return exitCode || 1;
  }
}
