// Buttons that use a passkey: `data-passkey` is "create" or "get". They stay hidden where the browser knows no passkeys.
const supported = globalThis.PublicKeyCredential?.parseCreationOptionsFromJSON !== undefined;

async function post(path, body) {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(response.status === 429 ? 'Too many attempts. Please wait a while.' : '');
  return response.json();
}

async function create() {
  const options = PublicKeyCredential.parseCreationOptionsFromJSON(await post('/account/passkeys/options', {}));
  const credential = await navigator.credentials.create({ publicKey: options });
  return post('/account/passkeys', { credential: credential.toJSON() });
}

async function get({ next }) {
  const options = PublicKeyCredential.parseRequestOptionsFromJSON(await post('/sign-in/passkey/options', {}));
  const credential = await navigator.credentials.get({ publicKey: options });
  return post('/sign-in/passkey', { credential: credential.toJSON(), next });
}

for (const button of document.querySelectorAll('[data-passkey]')) {
  button.closest('[data-passkey-area]').hidden = !supported;
  button.addEventListener('click', async () => {
    const problem = document.getElementById('passkey-problem');
    problem.hidden = true;
    button.disabled = true;
    try {
      const { location } = await (button.dataset.passkey === 'create' ? create() : get(button.dataset));
      globalThis.location.assign(location);
    } catch (error) {
      const known = error.name === 'InvalidStateError' ? 'This device has a passkey for you already.' : error.message;
      // Whoever closes the window of the browser knows that they did.
      const text = error.name === 'NotAllowedError' ? 'No passkey was used. Try again when you are ready.' : known;
      problem.textContent = text || 'This passkey was not accepted.';
      problem.hidden = false;
      button.disabled = false;
    }
  });
}
