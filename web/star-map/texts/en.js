/** What the page says in English, by part. `one | many` are two forms, chosen by n. */
export default {
  'dialog.cancel': 'Cancel',
  'dialog.close': 'Close',
  'toasts.dismiss': 'Dismiss',
  'toasts.offline': 'The server does not answer.',
};
