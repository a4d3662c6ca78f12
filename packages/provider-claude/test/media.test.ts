import { describe, expect, test } from 'vitest';
import { refusedMedia } from '../src/media.ts';
import { claudeTesting } from '../src/testing/index.ts';

const png = { type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' } as const;
const pdf = { type: 'document', mediaType: 'application/pdf', data: 'JVBERi0xLjQ=' } as const;
const limit = 5 * 1024 * 1024;

describe('what Claude would refuse with every request to come [P12]', () => {
  test.each(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])(
    'is no picture of type %s',
    (mediaType) => {
      expect(refusedMedia({ ...png, mediaType })).toBeUndefined();
    },
  );

  test.each(['application/pdf', 'text/plain', 'text/csv', 'application/json'])(
    'is no document of type %s',
    (mediaType) => {
      expect(refusedMedia({ ...pdf, mediaType })).toBeUndefined();
    },
  );

  test('is a picture or document of another type', () => {
    expect(refusedMedia({ ...png, mediaType: 'image/svg+xml' })).toMatch(/images of type image\/svg\+xml/);
    expect(refusedMedia({ ...pdf, mediaType: 'application/zip' })).toMatch(
      /documents of type application\/zip/,
    );
  });

  test('is a picture over 5 MB of base64, to the byte', () => {
    expect(refusedMedia({ ...png, data: 'A'.repeat(limit) })).toBeUndefined();
    expect(refusedMedia({ ...png, data: 'A'.repeat(limit + 1) })).toMatch(/over 5 MB/);
  });

  test('is a document that leaves no room in a request', () => {
    expect(refusedMedia({ ...pdf, data: 'A'.repeat(30_000_001) })).toMatch(/over 30 MB/);
  });

  test('the mock refuses what the service refuses', () => {
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
