// Pages work without this file. It only saves a few steps.
document.addEventListener('click', async (event) => {
  const button = event.target.closest('button[data-copy]');
  if (!button) return;
  const source = document.getElementById(button.dataset.copy);
  const text = 'value' in source ? source.value : source.textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // The clipboard is unavailable over plain http; the selected text can be copied by hand.
    getSelection().selectAllChildren(source);
    source.select?.();
    return;
  }
  const label = button.textContent;
  button.textContent = 'Copied';
  setTimeout(() => (button.textContent = label), 2000);
});
// Buttons that need a script are hidden until it runs.
for (const element of document.querySelectorAll('[data-needs-script]')) element.hidden = false;
// Select the text to copy in advance.
document.querySelector('[data-select]')?.select();
// A call that is on its way is answered within seconds.
if (document.querySelector('[data-reload]')) setTimeout(() => location.reload(), 2000);
// The Back button must not restore a page from memory: it may contain a key or belong to somebody who signed out.
addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
