// ---- what was asked, so that it can be asked again

function questionSection(view) {
  const {question, model_version: weights} = view.data, network = view.networks[0];
  const fact = (name, value) => {
    const text = Array.isArray(value) ? value.join(' ') : value === undefined || value === null ? '' : String(value);
    return text ? [el('dt', {}, name), el('dd', {}, text)] : [];
  };
  return section('question', 'The question', question.command ? 'This command recreates the page if the server has the same weights.' : null,
    question.command && el('pre', {tabindex: '0'}, question.command),
    el('dl', {class: 'facts'},
      fact('model', question.model || question.arch), fact('entry', question.entry),
      fact('method', question.method), fact('inputs', question.inputs && question.inputs.length ? question.inputs : network.raw.inputs.map((t) => t.type)),
      fact('arguments', question.arguments), fact('mode', question.mode === 'train' ? 'train: the forward pass only, without gradients' : question.mode), fact('cached tokens', question.cached_tokens),
      fact('PyTorch', question.torch_version || [...new Set(view.targets.map((t) => t.raw.torch_version))].filter(Boolean)),
      fact('libraries', question.libraries), fact('weights', weights), fact('fingerprint', view.networks.map((n) => n.raw.fingerprint))));
}
