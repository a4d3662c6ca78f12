import { stripVTControlCharacters } from 'node:util';
import { z } from 'zod';
import type { ResponseText, Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import { Problem } from '../requests/problem.ts';
import type { FileRestoration, SessionCommand } from '../sessions/session-place.ts';
import { UndoService } from '../sessions/undo-service.ts';
import { command, commandList, id, undoBody, undoOffer } from './schemas.ts';
import type { Services } from './services.ts';

const unknown: ResponseText = { text: 'There is no such session.' };

const refusals = {
  403: { text: 'The session belongs to another user (`owner`), or the token lacks a scope.' },
  404: unknown,
  409: {
    text: 'A run is active (`busy`), there is nothing to undo (`nothing_to_undo`), it is not what was shown (`files_changed`), or a file could not be written (`not_restored`).',
  },
};

/** Returns the routes that undo and redo changes to files. */
export function undoRoutes(services: Services): Route[] {
  const undoing = new UndoService(services);
  const made = z.object({ id });
  return [
    route({
      method: 'GET',
      path: '/v1/sessions/{sessionId}/undo',
      name: 'readUndo',
      summary:
        'Returns which message and which files `undo` would undo now, and what `redo` would take back.',
      scope: 'approve',
      answers: {
        200: { text: 'The steps that are possible.', schema: undoOffer },
        403: refusals[403],
        404: unknown,
      },
      handle: async ({ params: { sessionId = '' }, token }) => {
        const { undo, redo } = await undoing.look(sessionId, token);
        return {
          status: 200,
          json: {
            ...(undo && { undo: { seq: undo.seq, hash: undo.hash, files: undo.files.map(fileJson) } }),
            ...(redo && {
              redo: { sessionId: redo.undone.from, hash: redo.hash, files: redo.files.map(fileJson) },
            }),
          },
        };
      },
    }),
    ...(['undo', 'redo'] as const).map((kind) =>
      route({
        method: 'POST',
        path: `/v1/sessions/{sessionId}/${kind}`,
        name: kind,
        summary:
          kind === 'undo'
            ? 'Restores the files that the last message has changed, and creates a copy of the session that ends before it.'
            : 'Takes back the last undo, unless the conversation has continued since.',
        scope: 'approve',
        body: undoBody,
        answers: {
          200: { text: 'The session in which the conversation continues.', schema: made },
          ...refusals,
        },
        handle: async ({ params: { sessionId = '' }, body: { hash }, token }) => ({
          status: 200,
          json: { id: await undoing[kind](sessionId, token, hash) },
        }),
      }),
    ),
  ];
}

function fileJson({ path, before, isChanged }: FileRestoration): Record<string, unknown> {
  return { path, change: before === null ? 'delete' : 'restore', isChanged };
}

/** Returns the routes for commands in the background. */
export function commandRoutes({ sessionService, places }: Services): Route[] {
  const all = (sessionId: string) => places?.placeOf(sessionId)?.commands.list(sessionId) ?? [];
  const find = (sessionId: string, commandId: string) => {
    const found = all(sessionId).find((one) => one.id === commandId);
    if (found !== undefined) return found;
    throw new Problem(404, 'no_command', `There is no command ${commandId} in the background.`);
  };
  const missing: ResponseText = { text: 'There is no such session or command.' };
  return [
    route({
      method: 'GET',
      path: '/v1/sessions/{sessionId}/commands',
      name: 'listCommands',
      summary: 'Lists the commands that the model has started in the background, oldest first.',
      scope: 'read',
      answers: {
        200: { text: 'The commands. They end with the server.', schema: commandList },
        404: unknown,
      },
      handle: async ({ params: { sessionId = '' }, token }) => {
        await sessionService.session(sessionId, token, 'read');
        return { status: 200, json: { items: all(sessionId).map(commandJson) } };
      },
    }),
    route({
      method: 'GET',
      path: '/v1/sessions/{sessionId}/commands/{commandId}',
      name: 'readCommand',
      summary: 'Returns a command in the background with its output so far.',
      scope: 'read',
      answers: { 200: { text: 'The command.', schema: command }, 404: missing },
      handle: async ({ params: { sessionId = '', commandId = '' }, token }) => {
        await sessionService.session(sessionId, token, 'read');
        const found = find(sessionId, commandId);
        const output = stripVTControlCharacters(found.output).replaceAll(/\r\n?/g, '\n');
        return { status: 200, json: { ...commandJson(found), output } };
      },
    }),
    route({
      method: 'POST',
      path: '/v1/sessions/{sessionId}/commands/{commandId}/stop',
      name: 'stopCommand',
      isFree: true,
      summary: 'Stops a command in the background. Responds when it has ended.',
      scope: 'prompt',
      body: z.strictObject({}).meta({ id: 'StopCommand' }),
      bodyOptional: true,
      answers: { 200: { text: 'The command.', schema: command }, 404: missing },
      handle: async ({ params: { sessionId = '', commandId = '' }, token }) => {
        await sessionService.session(sessionId, token, 'prompt');
        find(sessionId, commandId);
        await places?.placeOf(sessionId)?.commands.stop(sessionId, commandId);
        return { status: 200, json: commandJson(find(sessionId, commandId)) };
      },
    }),
  ];
}

function commandJson({ id: commandId, command: line, status, durationMs }: SessionCommand) {
  return { id: commandId, command: line, status, durationMs: Math.round(durationMs) };
}
