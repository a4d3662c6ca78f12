import type { PlannedChange, Tool } from '@cobbler/agent';
import { AgentError, toolOutput } from '@cobbler/agent';
import type { Workspace } from '@cobbler/agent/node';
import { quotePath } from '@cobbler/agent/node';
import type { ReplacementArgs } from './edit/replacement.ts';
import { replacePassage } from './edit/replacement.ts';
import type { TextFile } from './workspace/file-bytes.ts';
import { contentOf, counted, readTextFile } from './workspace/file-bytes.ts';
import { agentFiles, fileTool, requireApproved, throwIfStopped } from './workspace/file-tool.ts';
import { suggestNames } from './workspace/similar-names.ts';
import type { Change } from './workspace/unified-diff.ts';
import { changeOf } from './workspace/unified-diff.ts';

/** Arguments of edit_file: the path, the passage and its replacement. */
export interface EditFileArgs extends ReplacementArgs {
  /** Path relative to the workspace. */
  readonly path: string;
}

const maxBytes = 10_000_000;

/** Replaces one exact, unique passage of a text file. */
export function editFile(workspace: Workspace): Tool {
  return fileTool<EditFileArgs>(workspace, {
    name: 'edit_file',
    description:
      'Replaces a passage in a text file in the workspace. old_text must match text in the file exactly, ' +
      'including whitespace. It must occur only once unless replace_all is set.',
    parameters: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Path of the file, relative to the workspace.' },
        old_text: {
          type: 'string',
          description: 'The passage to replace, with enough lines to be unique.',
        },
        new_text: { type: 'string', description: 'The text to insert in its place.' },
        replace_all: { type: 'boolean', description: 'Replace every occurrence. Default false.' },
      },
      required: ['path', 'old_text', 'new_text'],
      additionalProperties: false,
    },
    effect: 'once',
    locks: ['workspace'],
    pathOf: ({ path }) => path,
    subject: ({ path }) => workspace.subject(path),
    mustAsk: ({ path }) => workspace.mustAsk(path, agentFiles),
    async preview(args, context) {
      const { change, planned } = await applyEdit(workspace, args, context?.earlier);
      return { ...change, changes: [planned] };
    },
    async execute(args, { signal, approved }) {
      const { file, count, change, planned } = await applyEdit(workspace, args);
      requireApproved(args.path, planned, approved);
      throwIfStopped(signal);
      await workspace.write(args.path, planned.after, {
        unchangedSince: file.stat,
        target: approved && planned.target,
      });
      const content = `Replaced ${counted(count, 'passage')} in ${quotePath(args.path)} (${change.summary}).`;
      return toolOutput({ content, ...change });
    },
  });
}

interface EditResult {
  readonly file: TextFile;
  readonly count: number;
  readonly change: Change;
  readonly planned: PlannedChange & { readonly after: string };
}

async function applyEdit(
  workspace: Workspace,
  args: EditFileArgs,
  earlier: readonly PlannedChange[] = [],
): Promise<EditResult> {
  const { path } = args;
  const file = await suggestNames(workspace, path, () => readTextFile(workspace, path, maxBytes, earlier));
  const replacement = replacePassage(file.text, args);
  if (!replacement.ok) {
    const message = `${quotePath(path)} was not changed: ${replacement.problem}`;
    throw new AgentError({ kind: 'tool', code: 'no_match', message });
  }
  const after = contentOf({ ...file, text: replacement.text });
  const change = await changeOf(file.name, file.text, replacement.text);
  const planned = { target: file.name, before: contentOf(file), after };
  return { file, count: replacement.count, change, planned };
}
