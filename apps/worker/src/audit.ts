import type { Tool } from '@cobbler/agent';
import type { AuditSigner, StoredAuditLog } from '@cobbler/agent/stored-audit';
import { storedAuditLog } from '@cobbler/agent/stored-audit';
import type { EventStore, Sql } from '@cobbler/assistant';
import type { D1AuditLines } from '@cobbler/assistant/cloudflare';
import { d1AuditLines } from '@cobbler/assistant/cloudflare';
import { secretMatches } from '@cobbler/assistant/telegram';
import { text } from './text-response.ts';

/** Opens the audit log of the worker. */
export function auditIn(sql: Sql, key: string, onTrouble: (message: string) => void): StoredAuditLog {
  const signer = () => signerFrom(key);
  return storedAuditLog({ lines: d1AuditLines(sql), signer, surface: 'worker', onTrouble });
}

/** Makes a store record what it has accepted. */
export function audited(store: EventStore, log: StoredAuditLog, tools: readonly Tool[]): EventStore {
  const isRead = (toolName: string) => tools.find(({ name }) => name === toolName)?.effect === 'read';
  return {
    ...store,
    async append(sessionId, events, writer) {
      await store.append(sessionId, events, writer);
      log.record(sessionId, events, isRead);
    },
  };
}

const pageSize = 500;

/**
 * Serves the audit log, one record per line, to a caller with the token. Without a token in the settings, there is no
 * such address.
 */
export async function serveAudit(request: Request, sql: Sql, token: string | undefined): Promise<Response> {
  if (token === undefined) return text('not found', 404);
  const given = /^Bearer ([\w-]+)$/.exec(request.headers.get('authorization') ?? '')?.[1];
  if (!(await secretMatches(given, token))) return text('unauthorized', 401);
  return new Response(streamOf(d1AuditLines(sql)), {
    headers: { 'content-type': 'application/jsonl', 'cache-control': 'no-store' },
  });
}

function streamOf(lines: D1AuditLines): ReadableStream<Uint8Array> {
  let sent = 0;
  return new ReadableStream({
    async pull(controller) {
      const page = await lines.read(sent, pageSize);
      sent += page.length;
      if (page.length > 0)
        controller.enqueue(new TextEncoder().encode(page.map((line) => `${line}\n`).join('')));
      if (page.length < pageSize) controller.close();
    },
  });
}

async function signerFrom(base64: string): Promise<AuditSigner> {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const key = await crypto.subtle.importKey('pkcs8', bytes, 'Ed25519', true, ['sign']);
  const { x } = await crypto.subtle.exportKey('jwk', key);
  return {
    key: x ?? '',
    async sign(line) {
      const signature = await crypto.subtle.sign('Ed25519', key, new TextEncoder().encode(line));
      const characters = btoa(String.fromCharCode(...new Uint8Array(signature)));
      return characters.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
    },
  };
}
