/** The same in Chinese. */
export default {
  'dialog.cancel': '取消',
  'dialog.close': '关闭',
  'toasts.dismiss': '关闭提示',
  'toasts.offline': '服务器没有响应。',
};
