/**
 * The part of S3 that the stores use, in memory: objects with conditions, uploads of several parts, lists in pages. It
 * checks no signature. `test/slow/unit/s3` runs the same tests against a real server.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

interface Kept {
  readonly content: Buffer;
  readonly etag: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly writtenMs: number;
}

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export interface TestBucket {
  /** `http://host:port` */
  readonly endpoint: string;
  readonly bucket: string;
  close(): Promise<void>;
}

const refusal = (status: number, code: string): Answer => ({
  status,
  body: `<Error><Code>${code}</Code><Message>${code}</Message></Error>`,
});
const md5 = (text: Buffer) => createHash('md5').update(text);
const quoted = (text: Buffer) => `"${md5(text).digest('hex')}"`;
/** That of an upload is no digest of its content. */
const quotedParts = (parts: readonly Buffer[]) =>
  `"${md5(Buffer.concat(parts.map((part) => md5(part).digest()))).digest('hex')}-${parts.length}"`;

const contentsOf = (key: string, object: Kept | undefined) =>
  `<Contents><Key>${key}</Key><Size>${object?.content.length}</Size><ETag>${object?.etag}</ETag><LastModified>${new Date(object?.writtenMs ?? 0).toISOString()}</LastModified></Contents>`;

interface FakeOptions {
  /** Default: the clock of this machine. */
  readonly nowMs?: () => number;
  /** Most keys in a page of a list. Default: 3, so that tests have several pages. */
  readonly pageSize?: number;
  readonly onRequest?: (method: string) => void;
}

export async function createFakeS3({
  pageSize = 3,
  onRequest,
  nowMs = Date.now,
}: FakeOptions = {}): Promise<TestBucket> {
  const objects = new Map<string, Kept>();
  const uploads = new Map<string, { readonly metadata: Kept['metadata']; readonly parts: Map<number, Buffer> }>();

  function keep(key: string, object: Omit<Kept, 'writtenMs'>, { headers }: IncomingMessage): Answer {
    const there = objects.get(key);
    if (headers['if-none-match'] === '*' && there) return refusal(412, 'PreconditionFailed');
    const wanted = headers['if-match'];
    if (wanted !== undefined && !there) return refusal(404, 'NoSuchKey');
    if (wanted !== undefined && wanted !== there?.etag) return refusal(412, 'PreconditionFailed');
    const { etag } = object;
    objects.set(key, { ...object, writtenMs: nowMs() });
    return { status: 200, headers: { etag }, body: `<Result><ETag>${etag}</ETag></Result>` };
  }

  function list(query: URLSearchParams): Answer {
    const from = query.get('continuation-token') ?? '';
    const keys = [...objects.keys()].filter((key) => key.startsWith(query.get('prefix') ?? '') && key > from).sort();
    const page = keys.slice(0, pageSize);
    const more = keys.length > page.length;
    const next = more ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : '';
    const contents = page.map((key) => contentsOf(key, objects.get(key))).join('');
    const body = `<ListBucketResult><IsTruncated>${more}</IsTruncated>${next}${contents}</ListBucketResult>`;
    return { status: 200, body };
  }

  async function answer(request: IncomingMessage): Promise<Answer> {
    const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://fake');
    const body = await buffer(request);
    const [, bucket, ...rest] = decodeURIComponent(pathname).split('/');
    if (bucket !== 'results') return refusal(404, 'NoSuchBucket');
    const key = rest.join('/');
    const metadata = Object.fromEntries(
      Object.entries(request.headers).filter(([name]) => name.startsWith('x-amz-meta-')) as [string, string][],
    );
    const id = query.get('uploadId');
    const upload = uploads.get(id ?? '');
    if (id !== null && !upload) return refusal(404, 'NoSuchUpload');
    switch (request.method) {
      case 'POST': {
        if (upload && id !== null) {
          const parts = [...upload.parts].sort(([a], [b]) => a - b).map(([, part]) => part);
          const object = { content: Buffer.concat(parts), etag: quotedParts(parts), metadata: upload.metadata };
          const kept = keep(key, object, request);
          if (kept.status === 200) uploads.delete(id);
          return kept;
        }
        const created = randomUUID();
        uploads.set(created, { metadata, parts: new Map() });
        return { status: 200, body: `<Result><UploadId>${created}</UploadId></Result>` };
      }
      case 'PUT': {
        if (!upload) return keep(key, { content: body, etag: quoted(body), metadata }, request);
        upload.parts.set(Number(query.get('partNumber')), body);
        return { status: 200, headers: { etag: quoted(body) } };
      }
      case 'DELETE':
        if (id === null) {
          const wanted = request.headers['if-match'];
          if (wanted !== undefined && wanted !== objects.get(key)?.etag) return refusal(412, 'PreconditionFailed');
          objects.delete(key);
        }
        if (id !== null) uploads.delete(id);
        return { status: 204 };
      default: {
        if (query.has('list-type')) return list(query);
        const there = objects.get(key);
        if (!there) return refusal(404, 'NoSuchKey');
        const { content, etag } = there;
        return {
          status: 200,
          headers: {
            ...there.metadata,
            etag,
            'last-modified': new Date(there.writtenMs).toUTCString(),
            'content-length': `${content.length}`,
          },
          body: content,
        };
      }
    }
  }

  const server = createServer(async (request, response) => {
    onRequest?.(request.method ?? '');
    const { status, headers, body } = await answer(request);
    response
      .writeHead(status, { 'x-amz-request-id': '1', ...headers })
      .end(request.method === 'HEAD' ? undefined : body);
  });
  // As behind a proxy that does not answer 100.
  server.on('checkContinue', () => {});
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    bucket: 'results',
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}
