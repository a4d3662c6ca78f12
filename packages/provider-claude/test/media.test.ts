import { hasMediaType } from '@cobbler/agent/provider';
import { describe, expect, test } from 'vitest';
import { acceptedFiles, refusedFile } from '../src/media.ts';
import { claudeTesting } from '../src/testing/index.ts';

const png = { type: 'file', mediaType: 'image/png', data: 'iVBORw0KGgo=' } as const;
const pdf = { type: 'file', mediaType: 'application/pdf', data: 'JVBERi0xLjQ=' } as const;
const limit = 5 * 1024 * 1024;

describe('file checks [P12]', () => {
  test.each([
    'image/jpeg',
    'image/png',
    'image/gif',
    'image/webp',
    'application/pdf',
    'text/plain',
    'text/csv',
    'application/json',
  ])('accept files of type %s', (mediaType) => {
    expect(hasMediaType(acceptedFiles, mediaType)).toBe(true);
    expect(refusedFile({ ...pdf, mediaType })).toBeUndefined();
  });

  test.each(['image/svg+xml', 'application/zip', 'audio/wav'])('reject files of type %s', (mediaType) => {
    expect(hasMediaType(acceptedFiles, mediaType)).toBe(false);
  });

  test('reject an image over 5 MB of base64, to the byte', () => {
    expect(refusedFile({ ...png, data: 'A'.repeat(limit) })).toBeUndefined();
    expect(refusedFile({ ...png, data: 'A'.repeat(limit + 1) })).toMatch(/over 5 MB/);
  });

  test('reject a document that leaves no room in a request', () => {
    expect(refusedFile({ ...pdf, data: 'A'.repeat(30_000_001) })).toMatch(/over 30 MB/);
  });

  test('apply in the mock too', () => {
    const body = (data: string) => ({
      model: 'claude-sonnet-5-5',
      max_tokens: 100,
      stream: true,
      messages: [
        {
          role: 'user',
          content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }],
        },
      ],
    });
    expect(claudeTesting.refuse(body('A'.repeat(limit)))).toBeUndefined();
    expect(claudeTesting.refuse(body('A'.repeat(limit + 4)))?.body).toMatch(
      /image exceeds 5 MB maximum: 5242884 bytes > 5242880 bytes/,
    );
    const nested = { type: 'image', source: { type: 'base64', media_type: 'image/bmp', data: 'Qk0=' } };
    const messages = [
      { role: 'user', content: 'Look.' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: [nested] }] },
    ];
    const tools = [{ name: 'look', description: 'Looks.', input_schema: { type: 'object' } }];
    expect(claudeTesting.refuse({ ...body(''), tools, messages })?.body).toMatch(
      /messages\.2\.content\.0\.tool_result\.content\.0\.image\.source\.base64\.media_type/,
    );
  });
});
